'use strict';
// Runs after npm has unpacked the package: puts the program itself where the launcher is, so that no start needs Node.
// Nothing that goes wrong here may fail an installation, since the launcher works without all this.
const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const { Problem, complaint, find, verify } = require('./platform.js');
const { bin } = require('./package.json');

/** Puts a verified copy of `from` at `to`, in one step; on one file system it takes no space. */
function place(from, to, sha256) {
  const temporary = `${to}.${process.pid}`;
  fs.mkdirSync(path.dirname(to), { recursive: true });
  try {
    try {
      fs.linkSync(from, temporary);
    } catch {
      fs.copyFileSync(from, temporary);
    }
    verify(temporary, sha256);
    fs.renameSync(temporary, to);
    return to;
  } finally {
    fs.rmSync(temporary, { force: true }); // also where both names were links to one file: rename then leaves them
  }
}

/** The program must run here before it replaces something that can explain why it does not. */
function runs(program) {
  const { stdout } = spawnSync(program, ['version'], { encoding: 'utf8', timeout: 30000 });
  return /^forage \d/.test(stdout || '');
}

function install() {
  const platform = find();
  const source = (file) => path.join(platform.folder, file);
  const own = (file) => path.join(__dirname, file);
  const program = 'bin/forage';
  fs.rmSync(complaint, { force: true });
  try {
    Object.entries(platform.sha256).forEach(([file, sha256]) => verify(source(file), sha256));
  } catch (error) {
    if (error instanceof Problem) {
      fs.writeFileSync(complaint, error.message);
    }
    throw error;
  }
  if (!runs(source(program))) {
    throw new Error('the program does not run on this system');
  }
  // What it looks for beside itself comes first; nothing uses it yet.
  for (const [file, sha256] of Object.entries(platform.sha256)) {
    if (file !== program) {
      place(source(file), own(file), sha256);
    }
  }
  for (const target of Object.values(bin)) {
    place(source(program), own(target), platform.sha256[program]);
  }
}

// Other package managers write scripts that start `node FILE`, for which FILE has to stay a script.
if (/^npm\//.test(process.env.npm_config_user_agent || '')) {
  try {
    install();
  } catch (error) {
    process.stderr.write(`forage-mcp: the launcher stays in use: ${error.message}\n`);
  }
}
