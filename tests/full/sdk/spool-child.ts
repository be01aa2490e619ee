/** Tracks events until it is killed, and appends the id of each to a file once it was acknowledged. */
import { openSync, writeSync } from 'node:fs'
import { HubClient } from '../../../sdk/typescript/src/index.ts'

const [baseUrl = '', directory = '', log = '', round = ''] = process.argv.slice(2)
const hub = new HubClient({
  baseUrl,
  tenant: 'acme',
  accessToken: 't',
  telemetry: { spool: { directory, fsync: 'never' }, maxBatchEvents: 50, flushIntervalMs: 5 },
})
if (round === 'drain') {
  const isSent = await hub.telemetry.flush({ timeoutMs: 600_000 })
  await hub.close()
  process.exit(isSent ? 0 : 1)
}
const acknowledged = openSync(log, 'a')
async function trackForGood(worker: number): Promise<void> {
  for (let count = 0; ; count += 1) {
    const session_id = `${round}.${worker}.${count}`
    const known = {
      skill_id: 's',
      skill_version: '1.0.0',
      archetype_id: 'a',
      user_id: 'user:k',
      llm_platform: 'claude',
    }
    const measured = { ts: new Date().toISOString(), success: true, latency_ms: 1, tokens_in: 1, tokens_out: 1 }
    await hub.telemetry.track({ ...known, ...measured, cost_usd_estimate: 0, session_id })
    writeSync(acknowledged, `${session_id}\n`)
  }
}
await Promise.all(Array.from({ length: 8 }, (_, worker) => trackForGood(worker)))
