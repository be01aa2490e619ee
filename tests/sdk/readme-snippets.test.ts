import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { startHub } from '../support/hub.ts'
import { runNode } from './run-node.ts'
import { signedHeader } from './webhook-vectors.ts'

const secret = 'whsec_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'
const root = new URL('../../', import.meta.url)
const readme = readFileSync(new URL('sdk/typescript/README.md', root), 'utf8')
const exported: Record<string, { default: string }> = JSON.parse(
  readFileSync(new URL('sdk/typescript/package.json', root), 'utf8'),
).exports

/** Returns the source of an import of the package, which is not built here. */
function sourceOf(specifier: string): string {
  const entry = exported[specifier.replace('@org-memory-hub/sdk', '.')]
  if (!entry) throw new Error(`package.json exports no ${specifier}`)
  return new URL(entry.default.replace(/^\.\/dist\/(.*)\.js$/, '$1.ts'), root).href
}

test('the README has at most 165 lines, and all its code runs against a Hub', async () => {
  expect(readme.split('\n').length).toBeLessThanOrEqual(165)
  const hub = await startHub()
  onTestFinished(() => hub.stop())
  await hub.call('acme', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes: [{ archetype_id: 'agent' }] } })
  const skill = { skill_id: 'summarise', skill_version: '1.0.0', name: 'Summarise' }
  await hub.call('acme', 'POST', '/api/v1/hub/records', { body: { record_type: 'skill_definition', ...skill } })
  const { body: account } = await hub.call('acme', 'POST', '/api/v1/service-accounts', {
    body: { name: 'readme', scopes: scopeNames },
  })

  const code = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, snippet]) => snippet ?? '')
  expect(code.length).toBeGreaterThan(4)
  const source = code.join('\n').replace(/'(@org-memory-hub\/sdk[^']*)'/g, (_, name) => `'${sourceOf(name)}'`)
  const folder = await mkdtemp(join(tmpdir(), 'hub-sdk-readme-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'readme.mts')
  const message = JSON.stringify({ id: '1', kind: 'a.b', tenant: 'acme', occurred_at: 'now', sequence: 1, data: {} })
  const seconds = Math.floor(Date.now() / 1000)
  const post = {
    method: 'POST',
    body: message,
    headers: { 'X-Service-Signature': signedHeader(message, secret, seconds) },
  }
  const call = `const request = new Request('https://receiver.example', ${JSON.stringify(post)})
    console.log(await (await receive(request)).text())`
  await writeFile(file, `${source}\n${call}\nconsole.log('all ran')\n`)
  const { stdout } = await runNode([file], {
    HUB_URL: hub.baseUrl,
    HUB_TENANT: 'acme',
    HUB_CLIENT_ID: account.client_id,
    HUB_CLIENT_SECRET: account.client_secret,
    SPOOL_DIRECTORY: join(folder, 'spool'),
    WEBHOOK_SECRET: secret,
  })
  expect(stdout).toContain('skill-not-registered 422 /skill_id')
  expect(stdout).toMatch(/record: true, proof: true, rows: [1-9]\d*, exported: true/)
  expect(stdout).toContain('received a.b')
  expect(stdout).toMatch(/all ran$/m)
})
