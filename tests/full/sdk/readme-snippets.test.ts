import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { scopeNames } from '../../../contract/scopes.ts'
import { runNode } from '../../sdk/run-node.ts'
import { signedHeader } from '../../sdk/webhook-vectors.ts'
import { startHub } from '../../support/hub.ts'
import { snippetsOf } from '../../support/page-snippets.ts'
import { packSdk } from './packed-sdk.ts'

const secret = 'whsec_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'
const readme = readFileSync(new URL('../../../sdk/typescript/README.md', import.meta.url), 'utf8')

/** Packs the SDK and installs it in a fresh project, as the README says. Returns the folder of the project. */
async function installByReadme(): Promise<string> {
  const packed = await packSdk()
  onTestFinished(() => rm(packed.folder, { recursive: true, force: true }))
  const [, install = '', file = ''] = /`(npm install \.\/(\S+\.tgz))`/.exec(readme) ?? []
  expect(file).toBe(packed.filename)
  const project = await mkdtemp(join(tmpdir(), 'hub-sdk-readme-'))
  onTestFinished(() => rm(project, { recursive: true, force: true }))
  await writeFile(join(project, 'package.json'), '{"private":true}')
  await writeFile(join(project, file), packed.tarball)
  await promisify(execFile)('sh', ['-c', `${install} --offline --no-audit --no-fund`], { cwd: project })
  return project
}

test('the README has at most 165 lines, and all its code runs with the packed SDK against a Hub', async () => {
  expect(readme.split('\n').length).toBeLessThanOrEqual(165)
  const hub = await startHub()
  onTestFinished(() => hub.stop())
  await hub.call('acme', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes: [{ archetype_id: 'agent' }] } })
  const skill = { skill_id: 'summarise', skill_version: '1.0.0', name: 'Summarise' }
  await hub.call('acme', 'POST', '/api/v1/hub/records', { body: { record_type: 'skill_definition', ...skill } })
  const { body: account } = await hub.call('acme', 'POST', '/api/v1/service-accounts', {
    body: { name: 'readme', scopes: scopeNames },
  })

  const folder = await installByReadme()
  const code = snippetsOf('sdk/typescript/README.md')
  expect(code.map(({ name }) => name.replace(/.*: (\w+).*/, '$1'))).toEqual(Array(9).fill('ts'))
  const source = code.map((snippet) => snippet.code).join('\n')
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
