// Prints the ten slowest test files of $HUB_CI_FILE_TIMES, then the sum of the JSON reports: "N passed, N failed".
import { readFileSync } from 'node:fs'

const slowest = readFileSync(process.env.HUB_CI_FILE_TIMES, 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split('\t'))
  .sort(([one], [other]) => other - one)
  .slice(0, 10)
for (const [ms, file] of slowest) console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`)

let passed = 0
let failed = 0
for (const file of process.argv.slice(2)) {
  const report = JSON.parse(readFileSync(file, 'utf8'))
  passed += report.numPassedTests
  failed += report.numTotalTests - report.numPassedTests
}
console.log(`\n${passed} passed, ${failed} failed`)
process.exit(failed === 0 && passed > 0 ? 0 : 1)
