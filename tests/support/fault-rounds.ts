/**
 * Returns how often a test kills processes: `few` in the run of every change, `all` in `npm run test:faults`, which takes
 * longer than a change should wait.
 */
export function faultRounds({ few, all }: { few: number; all: number }): number {
  return process.env.HUB_TEST_FAULTS === 'all' ? all : few
}
