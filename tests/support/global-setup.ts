import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { startTestCluster, type TestCluster } from './cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    testCluster: TestCluster
  }
}

/** The built web UI and documentation, and a database of one cluster for the whole run, migrated, that every test file gets a copy of. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [{ cluster, stop }] = await Promise.all([
    startTestCluster(process.env.HUB_TEST_DATABASE_URL),
    build('web/build.ts'),
    build('docs/.vitepress/build.ts'),
  ])
  project.provide('testCluster', cluster)
  return stop
}

/** As the start of the Hub does, but here a failure is one. */
async function build(script: string): Promise<void> {
  await promisify(execFile)(process.execPath, [resolve(import.meta.dirname, '../..', script)])
}
