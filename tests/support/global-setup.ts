import type { TestProject } from 'vitest/node'
import { startTestCluster, type TestCluster } from './cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    testCluster: TestCluster
  }
}

/** A database of one cluster for the whole run, migrated, that every test file gets a copy of. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { cluster, stop } = await startTestCluster(process.env.HUB_TEST_DATABASE_URL)
  project.provide('testCluster', cluster)
  return stop
}
