// Reports on tests from inside mocha, jest and vitest: one line of JSON for each thing that happens, at once.
//
// It is copied beside the tests and named on the runner's command line. It uses nothing but node, and must never
// change what a test does, nor whether it passes. The records are those of burnish_witness.py.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const MOST_TEXT = 6000;
const MOST_MESSAGE = 2000;
const ROOT = process.env.BURNISH_WITNESS_ROOT || process.cwd();
const CHOICE = process.env.BURNISH_WITNESS_CHOICE
  ? JSON.parse(fs.readFileSync(process.env.BURNISH_WITNESS_CHOICE, 'utf8'))
  : {};
const FIRST = new Set(CHOICE.first || []);

function firstOnes(found, fileOf) {
  const place = (one) => (FIRST.has(named(fileOf(one))) ? 0 : 1);
  return [...found].sort((one, other) => place(one) - place(other));
}

function write(record) {
  if (process.env.BURNISH_WITNESS_REPORT) {
    fs.appendFileSync(process.env.BURNISH_WITNESS_REPORT, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  }
}

function named(file) {
  return file ? path.relative(ROOT, file) : '';
}

function cut(text) {
  const half = MOST_TEXT / 2;
  return text.length <= MOST_TEXT ? text : `${text.slice(0, half)}\n…\n${text.slice(-half)}`;
}

function told(error) {
  if (!error || typeof error !== 'object') return { text: String(error), message: String(error) };
  const message = String(error.message || error);
  const stack = String(error.stack || '');
  const differs = error.diff || ('expected' in error && 'actual' in error && difference(error));
  const text = [stack.includes(message) ? '' : message, differs || '', stack].filter(Boolean).join('\n');
  return { text: cut(text), message: message.slice(0, MOST_MESSAGE) };
}

function difference(error) {
  try {
    return `expected: ${JSON.stringify(error.expected)}\nactual: ${JSON.stringify(error.actual)}`;
  } catch {
    return '';
  }
}

function result(kind, name, outcome, file, line, errors) {
  const said = errors.map(told);
  const text = said.map((one) => one.text).join('\n');
  const message = said.map((one) => one.message).join('\n').slice(0, MOST_MESSAGE);
  write({ kind, name, outcome, file, line: line || 0, text: cut(text), message });
  write({ kind: 'finish', name });
}

class Reporter {
  constructor(first) {
    this.written = new Set();
    if (first && typeof first.on === 'function' && first.suite) this.listen(first);
  }

  // mocha

  listen(runner) {
    const only = new Set(CHOICE.only || []);
    runner.suite.suites = firstOnes(runner.suite.suites || [], (suite) => suite.file);
    const name = (test) => `${named(test.file || (test.parent && test.parent.file))} > ${test.fullTitle()}`;
    const file = (test) => named(test.file || (test.parent && test.parent.file));
    const clean = (text) => text.replace(/\s+/g, ' ').trim().slice(0, 300);
    if (CHOICE.listing) {
      runner.grep({ test: () => false }, false);
    } else if (only.size) {
      const titles = new Set();
      runner.suite.eachTest((test) => {
        if (only.has(clean(name(test))) || only.has(file(test))) titles.add(test.fullTitle());
      });
      runner.grep({ test: (title) => titles.has(title) }, false);
    }
    runner.on('start', () => {
      const names = [];
      runner.suite.eachTest((test) => names.push(name(test)));
      write({ kind: 'listed', names });
    });
    runner.on('test', (test) => write({ kind: 'start', name: name(test) }));
    runner.on('pass', (test) => result('case', name(test), 'passed', file(test), 0, []));
    runner.on('pending', (test) => result('case', name(test), 'skipped', file(test), 0, []));
    runner.on('fail', (test, error) => {
      console.log(`${test.fullTitle()}\n${told(error).text}\n`);
      result('case', name(test), 'failed', file(test), 0, [error]);
    });
    runner.on('end', () => write({ kind: 'end', code: runner.failures ? 1 : 0 }));
  }

  // jest

  onTestCaseResult(test, found) {
    if (test.module) this.vitestCase(test);
    else this.jestCase(named(test.path), found);
  }

  jestCase(file, found) {
    const name = `${file} > ${found.fullName}`;
    if (this.written.has(name)) return;
    this.written.add(name);
    const outcome = { passed: 'passed', failed: 'failed' }[found.status] || 'skipped';
    const errors = (found.failureMessages || []).map((text) => ({ message: text.split(/\n\s+at /)[0], stack: text }));
    result('case', name, outcome, file, found.location && found.location.line, errors);
  }

  onTestResult(test, found) {
    const file = named(test.path);
    if (found.testExecError || (found.failureMessage && !found.testResults.length)) {
      const text = found.failureMessage || String(found.testExecError.message);
      result('broken', file, 'failed', file, 0, [{ message: text.split(/\n\s+at /)[0], stack: text }]);
    }
    for (const one of found.testResults) this.jestCase(file, one);
    this.written.clear();
    write({ kind: 'ended', name: file });
  }

  onRunComplete(_, results) {
    const failed = results.numFailedTests + results.numFailedTestSuites + results.numRuntimeErrorTestSuites;
    write({ kind: 'end', code: failed || results.wasInterrupted ? 1 : 0 });
  }

  // vitest

  onInit(vitest) {
    const sequence = FIRST.size && vitest && vitest.config && vitest.config.sequence;
    if (!sequence || !sequence.sequencer) return;
    sequence.sequencer = class extends sequence.sequencer {
      async sort(files) {
        return firstOnes(await super.sort(files), (one) => one.moduleId || one[1]);
      }
    };
  }

  // vitest, from 3 on

  onTestRunStart(files) {
    write({ kind: 'units', names: [...files].map((one) => named(one.moduleId)) });
  }

  vitestCase(test) {
    const file = named(test.module.moduleId);
    const found = test.result();
    const outcome = { passed: 'passed', failed: 'failed' }[found.state] || 'skipped';
    const line = test.location && test.location.line;
    result('case', `${file} > ${test.fullName}`, outcome, file, line, found.errors ? [...found.errors] : []);
  }

  onTestModuleEnd(module) {
    const file = named(module.moduleId);
    const errors = module.errors();
    if (errors.length) result('broken', file, 'failed', file, 0, [...errors]);
    write({ kind: 'ended', name: file });
  }

  onTestRunEnd(modules, errors, reason) {
    this.over = true;
    for (const error of errors || []) console.log(told(error).text);
    write({ kind: 'end', code: reason === 'passed' && !(errors || []).length ? 0 : 1 });
  }

  // vitest, before 3

  onFinished(files, errors) {
    if (this.over) return;
    let failed = (errors || []).length;
    const walk = (task, file, names) => {
      const state = task.result && task.result.state;
      if (task.tasks) {
        for (const one of task.tasks) walk(one, file, [...names, one.name]);
      } else {
        const outcome = { pass: 'passed', fail: 'failed' }[state] || 'skipped';
        if (state === 'fail') failed += 1;
        const errors = (task.result && task.result.errors) || [];
        result('case', `${file} > ${names.join(' > ')}`, outcome, file, task.location && task.location.line, errors);
      }
    };
    for (const one of files || []) {
      const file = named(one.filepath);
      const state = one.result && one.result.state;
      if (state === 'fail' && one.result.errors && one.result.errors.length) {
        failed += 1;
        result('broken', file, 'failed', file, 0, one.result.errors);
      }
      walk(one, file, []);
    }
    write({ kind: 'end', code: failed ? 1 : 0 });
  }
}

module.exports = Reporter;
module.exports.default = Reporter;
