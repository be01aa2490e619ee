import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareTelemetry } from '../../api/telemetry-tenants.ts'
import { eventsOf } from '../../otlp/otlp-lab.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import { event } from '../../telemetry/events.ts'
import { type PackedSdk, packSdk } from './packed-sdk.ts'
import { installRuntimes, runIn, runtimes } from './runtimes.ts'

let hub: TestHub
let sdk: PackedSdk
let installed: string
let account: { client_id: string; client_secret: string }
beforeAll(async () => {
  sdk = await packSdk()
  installed = await installRuntimes()
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
  const scopes = ['hub:read', 'telemetry:read', 'telemetry:write']
  const { body } = await hub.call('acme', 'POST', '/api/v1/service-accounts', { body: { name: 'runtimes', scopes } })
  account = body
})
afterAll(async () => {
  await hub?.stop()
  for (const folder of [sdk?.folder, installed]) if (folder) await rm(folder, { recursive: true, force: true })
})

const tracked = 120

/** Uses each part of the SDK: token, batcher, spool, pages, verifiers, and errors of the Hub. */
const program = `
import { HubClient, HubError } from '@org-memory-hub/sdk'
import { trustedKeys, verifyRecord } from '@org-memory-hub/sdk/verify'
import { verifyWebhook, WebhookRefused } from '@org-memory-hub/sdk/webhooks'

const { HUB_URL, HUB_CLIENT_ID, HUB_CLIENT_SECRET, EVENT, SPOOL } = process.env
const connect = (telemetry) =>
  new HubClient({ baseUrl: HUB_URL, tenant: 'acme', clientId: HUB_CLIENT_ID, clientSecret: HUB_CLIENT_SECRET, telemetry })
const event = { ...JSON.parse(EVENT), ts: new Date().toISOString() }

const spooling = connect({ spool: { directory: SPOOL }, maxBatchEvents: 50 })
for (let count = 0; count < ${tracked}; count += 1) await spooling.telemetry.track({ ...event, tokens_in: count })
const spooled = await spooling.telemetry.close()

const hub = connect({})
const answer = await hub.telemetry.trace(event, async (trace) => {
  trace.set({ tokens_in: 7, tokens_out: 8 })
  return 'answer'
})
const isFlushed = await hub.telemetry.flush()

const keys = await trustedKeys(await hub.provenanceKeys())
let read = 0
let verified = 0
for await (const record of hub.records.list({ session_id: event.session_id, limit: 50 })) {
  read += 1
  if (read === 1) verified = Number((await verifyRecord(await hub.records.get(record.record_id), keys)).verified)
}
const refusal = await hub.telemetry.send({ ...event, skill_id: 'unknown' }).catch((error) => error)
const headers = { 'x-service-signature': 't=1,v1=' + '0'.repeat(64) }
const forged = await verifyWebhook({ body: '{}', headers, secret: 'whsec_' + 'a'.repeat(43) }).catch((error) => error)
console.log(
  JSON.stringify({
    ...{ spooled, answer, isFlushed, read, verified },
    ...{ slug: refusal instanceof HubError && refusal.slug, isRefused: forged instanceof WebhookRefused },
  }),
)
await hub.close()
`

test.each(runtimes)('the packed SDK runs in $name: it tracks, spools, reads and verifies', async (runtime) => {
  const folder = join(sdk.folder, 'programs')
  await mkdir(folder, { recursive: true })
  const dependencies = { '@org-memory-hub/sdk': '0.1.0' }
  await writeFile(join(sdk.folder, 'package.json'), JSON.stringify({ type: 'module', dependencies }))
  const file = join(folder, 'program.mjs')
  await writeFile(file, program)
  const output = await runIn(runtime, {
    ...{ installed, file, origin: hub.baseUrl },
    env: {
      ...{ HUB_URL: hub.baseUrl, HUB_CLIENT_ID: account.client_id, HUB_CLIENT_SECRET: account.client_secret },
      EVENT: JSON.stringify(event({ session_id: runtime.name })),
      SPOOL: join(folder, `spool of ${runtime.name}`),
    },
  })
  expect(JSON.parse(output)).toEqual({
    spooled: { queued: 0, accepted: tracked, rejected: 0, dropped: 0 },
    ...{ answer: 'answer', isFlushed: true, read: tracked + 1, verified: 1 },
    ...{ slug: 'skill-not-registered', isRefused: true },
  })
  const stored = await eventsOf(hub, 'acme', `&session_id=${encodeURIComponent(runtime.name)}`)
  // Two requests at a time may arrive in any order.
  const counts = stored.map(({ tokens_in }) => Number(tokens_in)).sort((a, b) => a - b)
  expect(counts).toEqual([...Array(tracked).keys(), 7].sort((a, b) => a - b))
})
