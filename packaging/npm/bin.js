#!/usr/bin/env node
'use strict';
// One of the names on PATH. The install script puts the program itself in the place of this file; where it could not,
// or was not allowed to run, this starts the program.
require('../launch.js')(require('path').basename(__filename));
