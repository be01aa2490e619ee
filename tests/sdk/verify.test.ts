import { afterAll, beforeAll, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import {
  type KeyRing,
  ProvenanceError,
  trustedKeys,
  verifyExport,
  verifyProofBundle,
  verifyRecord,
  verifyRecords,
} from '../../sdk/typescript/src/verify/verify.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
let client: HubClient
let keys: KeyRing
let recordId: string
beforeAll(async () => {
  hub = await startHub()
  const { body: account } = await hub.call('acme', 'POST', '/api/v1/service-accounts', {
    body: { name: 'verify', scopes: scopeNames },
  })
  const { client_id: clientId, client_secret: clientSecret } = account
  client = new HubClient({ baseUrl: hub.baseUrl, tenant: 'acme', clientId, clientSecret })
  const written = await client.records.write({
    record_type: 'decision',
    ...{ decision_id: 'd-1', decision_subject: 'Provider', decision_outcome: 'Renew' },
    ...{ decision_rationale: 'Lowest fees', decision_actor_role: 'CFO' },
  })
  recordId = written.record_id
  keys = await trustedKeys(await client.provenanceKeys())
})
afterAll(() => hub.stop())

test('a record is verified, and one with any altered value is not', async () => {
  const record = await client.records.get(recordId)
  expect(await verifyRecord(record, keys)).toMatchObject({ verified: true, failures: [] })
  const altered = { ...record, decision_outcome: 'Cancel' }
  const [first, second] = await verifyRecords([record, altered], keys)
  expect(first?.verified).toBe(true)
  expect(second?.failures).toMatchObject([{ code: 'hash-mismatch' }])
  const unknown = await verifyRecord(record, new Map())
  expect(unknown.failures).toMatchObject([{ code: 'key-unknown' }])
})

test('a proof bundle is verified, and an altered one is not', async () => {
  const bundle = await client.records.proofBundle(recordId)
  expect(await verifyProofBundle(bundle, keys)).toMatchObject({ verified: true })
  const altered = {
    ...bundle,
    checkpoint: bundle.checkpoint.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)),
  }
  expect((await verifyProofBundle(altered, keys)).verified).toBe(false)
  expect((await verifyProofBundle({}, keys)).verified).toBe(false)
})

test('an export is verified, and one with an altered row is not', async () => {
  const { job_id } = await client.exports.start({
    format: 'jsonl',
    include_provenance: true,
    filter: { record_type: ['decision'] },
  })
  const file = await new Response(await client.exports.download(await client.exports.completed(job_id))).bytes()
  expect(await verifyExport({ file: [file] }, keys)).toMatchObject({ verified: true, checked: 1 })
  const altered = new TextEncoder().encode(new TextDecoder().decode(file).replace('Lowest', 'Highest'))
  expect(await verifyExport({ file: [altered] }, keys)).toMatchObject({ verified: false, failed: 1 })
  const withManifest = verifyExport({ file: [file], manifest: new TextEncoder().encode('{}') }, keys)
  await expect(withManifest).rejects.toMatchObject({ code: 'manifest-malformed' })
})

test('a malformed key document is an error', async () => {
  await expect(trustedKeys({ keys: [{}] })).rejects.toThrow(ProvenanceError)
  await expect(trustedKeys({})).rejects.toMatchObject({ code: 'key-malformed' })
})
