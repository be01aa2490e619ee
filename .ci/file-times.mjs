// A reporter of vitest: appends "milliseconds<tab>project file" for each test file, hooks included, to $HUB_CI_FILE_TIMES.
import { appendFileSync } from 'node:fs'

export default class FileTimes {
  onTestModuleEnd(testModule) {
    const { collectDuration, setupDuration, duration } = testModule.diagnostic()
    const ms = Math.round(collectDuration + setupDuration + duration)
    appendFileSync(process.env.HUB_CI_FILE_TIMES, `${ms}\t${testModule.project.name} ${testModule.relativeModuleId}\n`)
  }
}
