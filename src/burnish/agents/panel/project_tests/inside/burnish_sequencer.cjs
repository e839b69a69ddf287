// The order in which jest runs files of tests: those that reach the change first, the rest as jest would have it.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const ROOT = process.env.BURNISH_WITNESS_ROOT || process.cwd();
const FIRST = new Set(JSON.parse(fs.readFileSync(process.env.BURNISH_WITNESS_CHOICE, 'utf8')).first || []);

function standard() {
  try {
    const jest = require.resolve('jest', { paths: [process.cwd(), ROOT] });
    const core = require.resolve('@jest/core', { paths: [jest] });
    const config = require.resolve('jest-config', { paths: [core] });
    const found = require(require.resolve('@jest/test-sequencer', { paths: [config, core] }));
    return found.default || found;
  } catch {
    return class {
      shard(tests) {
        return tests;
      }
      sort(tests) {
        return tests;
      }
      allFailedTests(tests) {
        return tests;
      }
      cacheResults() {}
    };
  }
}

module.exports = class Sequencer extends standard() {
  async sort(tests) {
    const sorted = [...(await super.sort(tests))];
    const place = (test) => (FIRST.has(path.relative(ROOT, test.path)) ? 0 : 1);
    return sorted.sort((one, other) => place(one) - place(other));
  }
};
