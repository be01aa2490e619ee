import { execFileSync } from 'node:child_process'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Curl, maskSteps, readTour, takeTour } from '../support/tour.ts'

/** The README says what its commands print. To write down what they print now: node tests/support/tour.ts --write */
const steps = await readTour()
const documented = maskSteps(
  steps,
  steps.map((step) => step.output),
)

function hasCurl(): boolean {
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const ways: Curl[] = hasCurl() ? ['installed', 'stand-in'] : ['stand-in']

test('the tour covers what a newcomer needs', () => {
  const commands = steps.map((step) => step.commands).join('')
  const needed = ['/oauth/token', '"decision"', 'events:batch', 'verify=true', '/verify', '/related', 'X DELETE']
  needed.push('records:export', 'hub -- verify', '/legal-holds', 'run hard-delete', '/deletion-certificate')
  for (const part of needed) expect(commands).toContain(part)
  expect(documented.filter((output) => output !== '').length).toBeGreaterThanOrEqual(8)
})

describe.each(ways)('the tour of the README, curl %s', (curl) => {
  let real: string[] = []
  beforeAll(async () => {
    real = maskSteps(steps, await takeTour(steps, curl))
  }, 150_000)

  test.each(steps.map(({ commands }, at) => ({ at, name: commands.split('\n')[0]!.slice(0, 70) })))(
    '$name',
    ({ at }) => {
      expect(real[at]).toBe(documented[at])
    },
  )
})

test('what differs from run to run gets a name, what says something does not', () => {
  const [first, again] = maskSteps(
    [{ commands: 'at 2026-01-05T09:30:00Z', output: '' }],
    [
      '"id": "01a1fd94-5037-769f-b25e-05872936a652", "ts": "2026-01-05T09:30:00Z", "at": "2026-11-21T10:08:37.943414Z"',
      '"id": "01a1fd94-5037-769f-b25e-05872936a652", "other": "01a1fd94-5037-7835-a82a-31b3211bf4d4", "status": 422',
    ],
  )
  expect(first).toBe('"id": "<uuid 2>", "ts": "2026-01-05T09:30:00Z", "at": "<time 1>"')
  expect(again).toBe('"id": "<uuid 2>", "other": "<uuid 3>", "status": 422')
})
