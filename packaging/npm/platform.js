'use strict';
// Finds the program of this platform. Whatever is in the way is said in words, with what to do about it.
const fs = require('fs');
const path = require('path');
const own = require('./package.json');
const platforms = require('./platforms.json');

class Problem extends Error {}

const REINSTALL = `install it again: npm install -g ${own.name}@${own.version} --include=optional`;

/** What is known of this platform: its package, its loader and the checksums of its files. */
function find() {
  const name = `${process.platform}-${process.arch}`;
  const platform = platforms[name];
  if (!platform) {
    throw new Problem(
      `there is no program for ${name} (there is one for ${Object.keys(platforms).join(', ')}). ` +
        'On Windows use WSL; elsewhere build it from its source, whose README says how.'
    );
  }
  if (!fs.existsSync(platform.loader)) {
    throw new Problem(
      `this system has no ${platform.loader}: the program needs glibc, and this looks like musl (Alpine Linux). ` +
        'Use an image with glibc (Debian, Ubuntu, Fedora), or build it from its source, whose README says how.'
    );
  }
  return { ...platform, folder: folderOf(platform.package) };
}

function folderOf(name) {
  let manifest;
  try {
    manifest = require.resolve(`${name}/package.json`);
  } catch {
    throw new Problem(
      `the package ${name}, which holds the program, is missing. It is an optional dependency: npm leaves it out with ` +
        `--omit=optional or --no-optional, and with a lock file of another platform. To mend it, ${REINSTALL}`
    );
  }
  const { version } = require(manifest);
  if (version !== own.version) {
    throw new Problem(`${name} is ${version} and ${own.name} is ${own.version}: ${REINSTALL}`);
  }
  return path.dirname(manifest);
}

/** Throws unless the file is, bit by bit, what the release says. */
function verify(file, sha256) {
  const crypto = require('crypto'); // takes longer to load than all the rest: not at every start
  const found = crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex');
  if (found !== sha256) {
    throw new Problem(`${file} is damaged (SHA-256 ${found} instead of ${sha256}): ${REINSTALL}`);
  }
}

// Where the install script leaves word of a damaged file. Checking at every start would cost more than starting.
const complaint = path.join(__dirname, 'damaged.txt');

module.exports = { Problem, complaint, find, verify };
