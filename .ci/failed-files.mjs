// Prints the failed test files of a JSON report of vitest, and removes them from it, so that the report of their second
// run takes their place in the sum. Prints nothing if the run failed for another reason.
import { readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'

const [file] = process.argv.slice(2)
const report = JSON.parse(readFileSync(file, 'utf8'))
const count = (results, status) =>
  results.flatMap((result) => result.assertionResults).filter((test) => test.status === status).length
const failed = report.testResults.filter(({ status }) => status === 'failed')
const others = report.testResults.filter(({ status }) => status !== 'failed')
report.testResults = others
report.numPassedTests = count(others, 'passed')
report.numTotalTests = others.flatMap(({ assertionResults }) => assertionResults).length
writeFileSync(file, JSON.stringify(report))
for (const { name } of failed) console.log(relative(process.cwd(), name))
