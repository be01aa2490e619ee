import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'

/** A Hub, and the environment in which a command works beside it on the same database. */
export interface CliHub {
  hub: TestHub
  env: Record<string, string>
  stop(): Promise<void>
}

export async function startCliHub(): Promise<CliHub> {
  const hub = await startHub()
  const dataDir = await mkdtemp(join(tmpdir(), 'hub-cli-'))
  return {
    hub,
    env: {
      HUB_DATABASE_URL: hub.test.url,
      HUB_MASTER_KEY: hub.test.masterKey.toString('base64'),
      HUB_DATA_DIR: dataDir,
      HUB_BASE_URL: hub.baseUrl,
    },
    stop: async () => {
      await hub.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/**
 * Starts a Hub before the tests of a file, and stops it after them. Its members are undefined until then.
 *
 * @param prepare writes what the tests need
 */
export function cliHubOfFile(prepare?: (hub: TestHub) => Promise<unknown>): CliHub {
  const lab = {} as CliHub
  beforeAll(async () => {
    Object.assign(lab, await startCliHub())
    await prepare?.(lab.hub)
  })
  afterAll(() => lab.stop?.())
  return lab
}
