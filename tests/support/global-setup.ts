import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { startTestCluster, type TestCluster } from './cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    testCluster: TestCluster
  }
}

/**
 * Makes what all projects of a run share: the built web UI and documentation, compiled sources, and a cluster with a
 * migrated database that every test file gets a copy of.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Tests start commands and Hubs as processes of their own: the first of them compiles the sources for all.
  const compileCache = await mkdtemp(join(tmpdir(), 'hub-test-compile-'))
  process.env.NODE_COMPILE_CACHE = compileCache
  const [{ cluster, stop }] = await Promise.all([
    startTestCluster(process.env.HUB_TEST_DATABASE_URL),
    build('web/build.ts'),
    build('docs/.vitepress/build.ts'),
  ])
  project.provide('testCluster', cluster)
  return async () => {
    await stop()
    // Processes that were just stopped may still write to it.
    await rm(compileCache, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** As the start of the Hub does, but here a failure is one. */
async function build(script: string): Promise<void> {
  await promisify(execFile)(process.execPath, [resolve(import.meta.dirname, '../..', script)])
}
