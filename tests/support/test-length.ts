/**
 * Returns the number of rounds, records or requests of a test: `short` in the run of every change, `long` in
 * `npm run test:faults` and `npm run test:volume`, which are too slow for each change.
 */
export function testLength({ short, long }: { short: number; long: number }): number {
  return process.env.HUB_TEST_LENGTH === 'long' ? long : short
}
