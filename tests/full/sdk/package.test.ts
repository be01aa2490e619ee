import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runNode } from '../../sdk/run-node.ts'
import { answerJson, stubHub } from '../../sdk/stub-hub.ts'
import { type PackedSdk, packSdk } from './packed-sdk.ts'

const root = join(import.meta.dirname, '../../..')

let sdk: PackedSdk
beforeAll(async () => {
  sdk = await packSdk()
})
afterAll(() => rm(sdk.folder, { recursive: true, force: true }))

test('the package has the built files, the README, the license and nothing else', async () => {
  const others = sdk.files.filter((path) => !/^dist\/(sdk\/typescript\/src|provenance)\/.*\.(js|d\.ts)$/.test(path))
  expect(others.sort()).toEqual(['LICENSE', 'README.md', 'package.json'])
  const [license, ...copies] = await Promise.all(
    ['LICENSE', 'sdk/typescript/LICENSE', 'sdk/python/LICENSE'].map((path) => readFile(join(root, path), 'utf8')),
  )
  expect(copies).toEqual([license, license])
})

test('publint finds nothing', async () => {
  const { messages, pkg } = await publint({
    pkgDir: join(sdk.folder, 'node_modules/@org-memory-hub/sdk'),
    pack: false,
    level: 'suggestion',
  })
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
})

test('the types resolve wherever ES modules do', async () => {
  const analysis = await checkPackage(createPackageFromTarballData(sdk.tarball))
  if (analysis.types === false) throw new Error('The package has no types')
  // As the profile "esm-only": older resolutions and require() of TypeScript before 5.8 do not apply.
  const ofModules = analysis.problems.filter(
    (problem) => !('resolutionKind' in problem) || !['node10', 'node16-cjs'].includes(problem.resolutionKind),
  )
  expect(ofModules).toEqual([])
})

test('runs in Node as it was packed', async () => {
  const { baseUrl, requests } = await stubHub(answerJson(200, { records: [{ record_id: 'r1' }], next_cursor: null }))
  const script = join(sdk.folder, 'smoke.mjs')
  await writeFile(
    script,
    `import { HubClient } from '@org-memory-hub/sdk'
     const hub = new HubClient({ baseUrl: '${baseUrl}', tenant: 'acme', accessToken: 't' })
     for await (const record of hub.records.list()) console.log(record.record_id)
     for (const name of ['verify', 'webhooks', 'webhooks/node'])
       console.log(Object.keys(await import('@org-memory-hub/sdk/' + name)).includes(name === 'verify' ? 'verifyRecord' : 'verifyWebhook'))`,
  )
  const { stdout } = await runNode([script])
  expect(stdout).toBe('r1\ntrue\ntrue\ntrue\n')
  expect(requests).toHaveLength(1)
})
