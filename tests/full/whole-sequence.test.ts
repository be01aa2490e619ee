import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OnboardingLab, startOnboardingLab } from '../onboarding/onboarding-lab.ts'
import { expectLive, takeLive } from '../onboarding/sequence.ts'

let lab: OnboardingLab
beforeAll(async () => {
  lab = await startOnboardingLab(5000)
})
afterAll(() => lab.close())

test('a service account takes a tenant of 5,000 people from nothing to live', async () => {
  await takeLive(lab)
  await expectLive(lab)
})

test('a provider that is away turns identity red, and its return green', async () => {
  lab.provider.faults.status = 503
  // What it answered last is believed for ten seconds.
  await expect.poll(() => lab.red(), { interval: 500 }).toEqual(['identity'])
  delete lab.provider.faults.status
  await expect.poll(() => lab.red(), { interval: 500 }).toEqual([])
})
