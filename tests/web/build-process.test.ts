import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { beginWebUiBuild } from '../../server/web-ui-build.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hub-build-process-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))
afterEach(() => vi.unstubAllEnvs())

/** What a script that is run in the place of the build says, and what came of it. */
async function runInItsPlace(source: string): Promise<{ said: unknown[]; problem: string | undefined }> {
  const script = join(folder, `${crypto.randomUUID()}.js`)
  await writeFile(script, source)
  const said: unknown[] = []
  const note = (...words: unknown[]) => void said.push(words[0])
  const problem = await beginWebUiBuild({ role: 'all' }, { info: note, warn: note }, script).problem
  return { said, problem }
}

test('the build of the web UI gets no setting of the Hub and no other secret', async () => {
  const secrets = ['HUB_MASTER_KEY', 'HUB_DATABASE_URL', 'AWS_SECRET_ACCESS_KEY', 'NODE_AUTH_TOKEN', 'npm_config_x']
  for (const name of secrets) vi.stubEnv(name, 'secret')
  const { said, problem } = await runInItsPlace('console.log(JSON.stringify(process.env))')
  expect(problem).toBe(undefined)
  const environment = JSON.parse(String(said[0]))
  expect(environment).toMatchObject({ PATH: process.env.PATH })
  expect(JSON.stringify(environment)).not.toContain('secret')
  for (const name of secrets) expect(environment).not.toHaveProperty(name)
})

test('why a build failed is logged, and told', async () => {
  const { said, problem } = await runInItsPlace('console.error("no such package"); process.exitCode = 1')
  expect(problem).toBe('no such package')
  expect(said).toEqual([{ problem: 'no such package' }])
})
