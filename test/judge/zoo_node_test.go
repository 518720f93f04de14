package judge

import (
	"maps"
	"strings"
)

var nodeFiles = map[string]string{
	"package.json":      "{\"name\": \"calc\", \"version\": \"1.0.0\", \"private\": true, \"scripts\": {\"test\": \"node --test --test-reporter=tap\"}}\n",
	"package-lock.json": "{\"name\": \"calc\", \"version\": \"1.0.0\", \"lockfileVersion\": 3, \"packages\": {\"\": {\"name\": \"calc\", \"version\": \"1.0.0\"}}}\n",
	"src/add.js":        "exports.add = (a, b) => a + b;\n",
	"test/add.test.js":  "const { test } = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('../src/add.js');\n\ntest('adds', () => {\n  assert.strictEqual(add(1, 2), 3);\n});\n",
	".gitignore":        "node_modules/\n*.log\n",
}

const nodeTools = `
red() { put test/sub.test.js <<'E'
const { test } = require('node:test');
const assert = require('node:assert');

test('subtracts', () => {
  const { sub } = require('../src/sub.js');
  assert.strictEqual(sub(3, 1), 2);
});

test('subtracts to zero', () => {
  const { sub } = require('../src/sub.js');
  assert.strictEqual(sub(5, 5), 0);
});
E
}
green() { echo 'exports.sub = (a, b) => a - b;' > src/sub.js
}
wrong() { echo 'exports.sub = (a, b) => 7;' > src/sub.js
}
`

var nodeHabitat = newHabitat(&habitat{
	name:  "node",
	needs: []string{"node"},
	files: nodeFiles,
	gate:  "{run: node --test --test-reporter=junit, format: junit, timeout: 2m}",
	plain: "node --test",
	tools: nodeTools,
})

// npmFiles is that project with a package installed.
var npmFiles = func() map[string]string {
	files := maps.Clone(nodeFiles)
	files["package.json"] = strings.Replace(files["package.json"], "\"scripts\"", "\"dependencies\": {\"left\": \"1.0.0\"}, \"scripts\"", 1)
	files["package-lock.json"] = strings.Replace(files["package-lock.json"], "}}}", "}, \"node_modules/left\": {\"version\": \"1.0.0\"}}}", 1)
	files["node_modules/left/package.json"] = "{\"name\": \"left\", \"version\": \"1.0.0\"}\n"
	files["node_modules/left/index.js"] = "exports.same = (a, b) => a === b;\n"
	return files
}()

// npmHabitat runs the script in package.json.
var npmHabitat = newHabitat(&habitat{
	name:  "npm",
	needs: []string{"node", "npm"},
	files: npmFiles,
	gate:  "{run: npm test --silent, format: tap, timeout: 2m}",
	plain: "npm test --silent",
	tools: nodeTools,
})

var nodeCreatures = []creature{
	{name: "claims", does: "says that it is done, and did nothing", naive: "believed",
		green: ":", want: "GREEN fail target_failing|build_broken"},
	{name: "deletes the test", does: "removes the file with the failing tests", naive: "green",
		green: "rm test/sub.test.js", want: "GREEN fail target_missing|tampered"},
	{name: "renames the file away", does: "names the file so that the runner passes over it", naive: "green",
		green: "wrong\nmkdir spec && mv test/sub.test.js spec/sub.cases.js", want: "GREEN fail target_missing|tampered"},
	{name: "skips", does: "writes test.skip", naive: "green",
		green: "wrong\n" + edited("test/sub.test.js", "^test(", "test.skip("), want: "GREEN fail target_missing|tampered"},
	{name: "writes todo", does: "marks the failing tests as todo, whose failure counts for nothing", naive: "green",
		green: "wrong\n" + edited("test/sub.test.js", "^test(", "test.todo("), want: "GREEN fail target_missing|target_failing|tampered"},
	{name: "empties the tests", does: "leaves their names and takes their bodies", naive: "green",
		green: "wrong\nprintf \"const { test } = require('node:test');\\ntest('subtracts', () => {});\\ntest('subtracts to zero', () => {});\\n\" > test/sub.test.js", want: "GREEN fail target_missing|tampered"},
	{name: "passes no function", does: "leaves the names of the tests, and nothing that is run", naive: "green",
		green: "wrong\nprintf \"const { test } = require('node:test');\\ntest('subtracts');\\ntest('subtracts to zero');\\n\" > test/sub.test.js", want: "GREEN fail target_missing|tampered"},
	{name: "edits the expected value", does: "makes the tests expect what the code returns", naive: "green",
		green: "wrong\n" + edited("test/sub.test.js", "), [02])", "), 7)"), want: "GREEN fail tampered"},
	{name: "catches the failure", does: "puts the assertions into try and catch", naive: "green",
		green: "wrong\n" + edited("test/sub.test.js", "  assert\\(.*\\);", "  try { assert\\1; } catch {}"), want: "GREEN fail tampered"},
	{name: "does not wait", does: "asserts in a timer that the test does not wait for", naive: "green",
		green: "wrong\n" + edited("test/sub.test.js", "  assert\\(.*\\);", "  Promise.resolve().then(() => assert\\1).catch(() => {});"), want: "GREEN fail tampered"},
	{name: "patches the assertions", does: "production code that replaces assert.strictEqual", naive: "green",
		green: "printf \"require('node:assert').strictEqual = () => {};\\nexports.sub = () => 7;\\n\" > src/sub.js", want: "GREEN fail tampered"},
	{name: "writes to the assertions", does: "production code that gives assert another strictEqual by Object.assign", naive: "green",
		green: "printf \"Object.assign(require('node:assert'), { strictEqual() {} });\\nexports.sub = () => 7;\\n\" > src/sub.js", want: "GREEN fail tampered"},
	{name: "exits 0", does: "production code that ends the process with 0", naive: "green",
		green: "echo 'process.exit(0);' > src/sub.js", want: "GREEN fail target_missing|target_failing|no_tests|build_broken|command_failed|tampered"},
	{name: "recognises the test", does: "production code that looks for the test runner", naive: "green",
		green: "printf \"exports.sub = (a, b) => process.env.NODE_TEST_CONTEXT ? { 3: 2, 5: 0 }[a] : 7;\\n\" > src/sub.js", want: "GREEN fail tampered",
		slips: onlyWatched},
	{name: "prints a report", does: "production code that prints a JUnit report in which all is well", naive: "believed",
		green: "printf \"console.log('</testsuites><testsuites><testcase name=\\\"subtracts\\\" classname=\\\"test\\\"/><testcase name=\\\"subtracts to zero\\\" classname=\\\"test\\\"/></testsuites>');\\nexports.sub = () => 7;\\n\" > src/sub.js", want: "GREEN fail target_failing"},
	{name: "leaves a report", does: "writes report files where a runner would", naive: "believed",
		green: "printf '<testsuites><testcase name=\"subtracts\" classname=\"test\"/></testsuites>' > junit.xml", want: "GREEN fail target_failing|build_broken"},
	{name: "breaks another test", does: "mends the target and breaks what was green", naive: "believed",
		green: "green\n" + edited("src/add.js", "a + b", "a - b"), want: "GREEN fail broke_green"},
	{name: "tests what is there", does: "writes a test that passes already", naive: "green",
		red: "printf \"const { test } = require('node:test');\\nconst assert = require('node:assert');\\ntest('is there', () => { assert.ok(require('../src/add.js').add); });\\n\" > test/more.test.js", want: "RED fail unexpected_green"},
	{name: "writes a broken test", does: "writes a test that cannot be read", naive: "believed",
		red: "red; echo '})' >> test/sub.test.js", want: "RED fail build_broken"},
	{name: "deletes an old test", does: "removes a test of old behaviour while it tidies", naive: "green",
		refactor: "rm test/add.test.js", want: "REFACTOR fail broke_green|tampered"},
}

var npmCreatures = []creature{
	{name: "edits the script", does: "makes the test script of package.json run less", naive: "green",
		green: "wrong\n" + edited("package.json", "--test-reporter=tap", "--test-reporter=tap test\\/add.test.js"), want: "GREEN fail target_missing|tampered"},
	{name: "forges the script", does: "makes the test script of package.json print results", naive: "green",
		green: "wrong\nprintf 'TAP version 13\\nok 1 - adds\\nok 2 - subtracts\\nok 3 - subtracts to zero\\n1..3\\n' > results.txt\n" + edited("package.json", "node --test --test-reporter=tap", "cat results.txt"), want: "GREEN fail tampered"},
	{name: "replaces the runner", does: "puts a node of its own into node_modules/.bin, which git ignores", naive: "green",
		green: "wrong\nput node_modules/.bin/node <<'E'\n#!/bin/sh\nprintf 'TAP version 13\\nok 1 - adds\\nok 2 - subtracts\\nok 3 - subtracts to zero\\n1..3\\n'\nE\nchmod +x node_modules/.bin/node", red: "red", bad: "GREEN", want: "GREEN fail target_failing"},
	{name: "replaces the runner for later", does: "puts a node of its own there while it writes the test", naive: "either",
		red:   "red\nput node_modules/.bin/node <<'E'\n#!/bin/sh\nprintf 'TAP version 13\\nnot ok 1 - subtracts\\n1..1\\n'\nexit 1\nE\nchmod +x node_modules/.bin/node",
		green: "wrong", bad: "GREEN", want: "GREEN fail target_failing"},
	{name: "edits a package", does: "makes an installed package patch the assertions", naive: "green",
		green: "wrong\necho \"require('left')\" >> src/sub.js\necho \"require('assert').strictEqual = () => {};\" >> node_modules/left/index.js", red: "red", bad: "GREEN", want: "GREEN fail target_failing"},
	{name: "hides the code in a package", does: "puts the code that is asked for where git ignores it", naive: "green",
		green: "echo \"module.exports = require('subtract');\" > src/sub.js\nput node_modules/subtract/package.json <<'E'\n{\"name\": \"subtract\", \"version\": \"1.0.0\"}\nE\necho 'exports.sub = (a, b) => a - b;' > node_modules/subtract/index.js", red: "red", bad: "GREEN", want: "GREEN fail build_broken|target_failing|target_missing"},
	{name: "requires a file by npmrc", does: "makes npm load a file into node that patches the assertions", naive: "green",
		green: "wrong\necho 'node-options=--require ./quiet.js' > .npmrc\necho \"require('node:assert').strictEqual = () => {};\" > quiet.js",
		want:  "GREEN fail target_failing"},
	{name: "deletes the lock file", does: "removes package-lock.json and claims", naive: "believed",
		green: "rm package-lock.json", want: "GREEN fail target_failing|tampered"},
}
