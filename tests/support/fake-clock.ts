import type { TimeSource } from '../../server/records/record-clock.ts'

export interface FakeClock extends TimeSource {
  step(by: { days?: number; ms?: number }): void
}

/** The time of this machine, which a test sets forward. */
export function fakeClock(): FakeClock {
  let aheadMs = 0
  return {
    wallMs: () => Date.now() + aheadMs,
    monotonicMs: () => performance.now(),
    step({ days = 0, ms = 0 }) {
      aheadMs += days * 86_400_000 + ms
    },
  }
}
