import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { measureTimeoutFactor, scaled } from './tests/support/machine-speed.ts'
import { RunSummary } from './tests/support/run-summary.ts'

// Before anything else runs. Workers inherit the factor by the environment.
const timeoutFactor = measureTimeoutFactor()

const shared = {
  pool: 'forks' as const,
  // The garbage collector took an eighth of a worker's time with the usual 16 MiB.
  execArgv: ['--max-semi-space-size=64'],
  // Timeouts end what hangs and prove nothing, so they are long.
  testTimeout: scaled(120_000),
  hookTimeout: scaled(120_000),
  expect: { poll: { timeout: scaled(30_000) } },
}

/** Two for each processor: half of the time of a file passes in waiting for the database, for timers or for processes. */
const maxWorkers = 2 * availableParallelism()

/** Timeouts of tests that take minutes. */
const slow = { testTimeout: scaled(15 * 60_000), hookTimeout: scaled(5 * 60_000) }

/** Slow tests with bounds of time for both cores together: nothing runs beside them. */
const undisturbed = ['tests/full/browser/graph-thousand.test.ts', 'tests/full/browser/million.test.ts']

/** Files that put something else in the place of a module. */
const alone = 'tests/**/*.alone.test.ts'

export default defineConfig({
  test: {
    // Once for all projects of a run.
    globalSetup: ['tests/support/global-setup.ts'],
    reporters: ['default', new RunSummary(timeoutFactor)],
    projects: [
      {
        test: {
          ...shared,
          name: 'suite',
          maxWorkers,
          // Files of one worker share what they imported: loading the service anew for each took most of the time.
          isolate: false,
          include: ['tests/**/*.test.ts'],
          exclude: ['tests/full/**', 'tests/browser/**', 'tests/{valkey,pgbouncer,inspector,image}/**', alone],
        },
      },
      { test: { ...shared, name: 'alone', maxWorkers, include: [alone] } },
      // Walks in a browser, crashes, floods and long pagings: minutes, not seconds.
      {
        test: {
          ...shared,
          ...slow,
          name: 'full',
          // Most of a file is done by processes that it starts, or waited for.
          maxWorkers: 2,
          isolate: false,
          sequence: { groupOrder: 1 },
          include: ['tests/full/**/*.test.ts', 'tests/browser/**/*.test.ts'],
          exclude: [...undisturbed],
        },
      },
      {
        test: {
          ...shared,
          ...slow,
          name: 'full-alone',
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          include: undisturbed,
        },
      },
      // Needs root, and the right to mount.
      { test: { ...shared, ...slow, name: 'image', maxWorkers: 1, include: ['tests/image/**/*.test.ts'] } },
      // Needs pgbouncer.
      {
        test: {
          ...shared,
          name: 'pgbouncer',
          maxWorkers: 1,
          sequence: { groupOrder: 4 },
          include: ['tests/pgbouncer/**/*.test.ts'],
        },
      },
      // Needs mcp-inspector.
      {
        test: {
          ...shared,
          name: 'inspector',
          maxWorkers: 1,
          sequence: { groupOrder: 5 },
          include: ['tests/inspector/**/*.test.ts'],
        },
      },
      // Needs redis-server or valkey-server.
      {
        test: {
          ...shared,
          name: 'valkey',
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
          include: ['tests/valkey/**/*.test.ts'],
        },
      },
    ],
  },
})
