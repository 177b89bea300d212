'use strict';
// Starts the program in the place of this process, or, with a Node that cannot do that, as a child that seems to be it:
// same input and output, same signals, same end.
const fs = require('fs');
const path = require('path');
const { Problem, complaint, find } = require('./platform.js');

const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'];

function program() {
  const platform = find();
  const file = path.join(platform.folder, 'bin', 'forage');
  if (fs.existsSync(complaint)) {
    throw new Problem(fs.readFileSync(complaint, 'utf8'));
  }
  try {
    fs.accessSync(file, fs.constants.X_OK);
  } catch (error) {
    throw new Problem(`${file} cannot be run (${error.code}): mend its permissions, or move it off a noexec file system`);
  }
  return file;
}

function runAsChild(file, name) {
  // Before there is a child: it may answer its client, who may send a signal, while we are still here.
  const forward = (signal) => child.kill(signal);
  FORWARDED.forEach((signal) => process.on(signal, forward));
  const child = require('child_process').spawn(file, process.argv.slice(2), { argv0: name, stdio: 'inherit' });
  child.on('error', (error) => fail(`${file} does not start: ${error.message}`));
  child.on('exit', (code, signal) => {
    FORWARDED.forEach((one) => process.off(one, forward));
    if (signal) {
      process.kill(process.pid, signal);
    } else {
      process.exitCode = code;
    }
  });
}

function fail(words) {
  process.stderr.write(`forage: ${words}\n`);
  process.exitCode = 1;
}

module.exports = function launch(name) {
  try {
    const file = program();
    if (process.execve) {
      process.execve(file, [name, ...process.argv.slice(2)], process.env); // does not come back
    }
    runAsChild(file, name);
  } catch (error) {
    if (!(error instanceof Problem)) {
      throw error;
    }
    fail(error.message);
  }
};
