import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { eventSink } from '../../sdk/event-sink.ts'
import { answerProblem } from '../../sdk/stub-hub.ts'
import { reportFault } from '../../support/guarantees.ts'
import { testLength } from '../../support/test-length.ts'

const kills = testLength({ short: 8, long: 200 })
const child = new URL('spool-child.ts', import.meta.url).pathname
const sizeOf = (file: string) =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  )

test(`kill -9 while events are tracked, ${kills} times: nothing acknowledged is lost or stored twice`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hub-spool-kills-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const log = join(folder, 'acknowledged')
  // Until the end every third request is refused, and every fifth breaks.
  let requests = 0
  let isFaulty = true
  const { baseUrl, stored } = await eventSink((response) => {
    requests += 1
    if (!isFaulty) return false
    if (requests % 5 === 0) response.destroy()
    else if (requests % 3 === 0) answerProblem(503, 'hub-unavailable', { 'retry-after': '0' })(response)
    return requests % 5 === 0 || requests % 3 === 0
  })
  const start = (round: string) =>
    spawn(process.execPath, [child, baseUrl, join(folder, 'spool'), log, round], { stdio: 'inherit' })

  for (let round = 0; round < kills; round += 1) {
    const before = await sizeOf(log)
    const running = start(String(round))
    const ended = once(running, 'exit')
    await expect.poll(() => sizeOf(log), { interval: 10 }).toBeGreaterThan(before)
    await delay(Math.random() * 200)
    running.kill('SIGKILL')
    expect(await ended).toEqual([null, 'SIGKILL'])
  }
  isFaulty = false
  expect(await once(start('drain'), 'exit')).toEqual([0, null])
  const acknowledged = (await readFile(log, 'utf8')).split('\n').slice(0, -1)
  expect(acknowledged.length).toBeGreaterThan(kills)
  await reportFault({ fault: 'Application killed whose SDK has a spool', acknowledged, found: stored })
})
