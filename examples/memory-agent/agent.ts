/**
 * An agent that asks the memory of the organisation before it decides, over the Model Context Protocol:
 *
 *     npx node examples/memory-agent/agent.ts "Payment provider" "Renew" "Lowest fees"
 *
 * It prints the decision that exists about the subject, or records the new one. Reads HUB_URL, HUB_TENANT, HUB_CLIENT_ID
 * and HUB_CLIENT_SECRET; the service account needs `hub:read` and `hub:write`. A language model would call the same tools.
 */
import { hash } from 'node:crypto'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const setting = (name: string) => process.env[name] || fail(`Set ${name}.`)
const [subject, outcome, rationale] = process.argv.slice(2)
if (!subject || !outcome || !rationale) fail('Give a subject, an outcome and a rationale.')

const client = new Client({ name: 'memory-agent', version: '1.0.0' })
const headers = { authorization: `Bearer ${await requestToken()}` }
await client.connect(
  new StreamableHTTPClientTransport(new URL('/mcp', setting('HUB_URL')), { requestInit: { headers } }),
)
try {
  const earlier = await findDecision()
  if (earlier) console.log(`Already decided: ${earlier.decision_outcome}, because ${earlier.decision_rationale}.`)
  else {
    const { record_id } = await call<{ record_id: string }>('record_decision', {
      ...{ decision_id: slugOf(subject), decision_subject: subject, decision_outcome: outcome },
      ...{ decision_rationale: rationale, decision_actor_role: 'agent' },
      // A repeated call after a lost response writes nothing twice.
      idempotency_key: hash('sha256', JSON.stringify([subject, outcome, rationale])),
    })
    console.log(`Decided: ${outcome}. Recorded as ${record_id}.`)
  }
} finally {
  await client.close()
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}

async function requestToken(): Promise<string> {
  const response = await fetch(new URL('/api/v1/oauth/token', setting('HUB_URL')), {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      ...{ client_id: setting('HUB_CLIENT_ID'), client_secret: setting('HUB_CLIENT_SECRET') },
    }),
    headers: { 'x-service-tenant': setting('HUB_TENANT') },
  })
  if (!response.ok) fail(`The Hub refuses the service account: ${await response.text()}`)
  return ((await response.json()) as { access_token: string }).access_token
}

/** Calls a tool. Throws its message if it failed. */
async function call<T>(name: string, given: Record<string, unknown>): Promise<T> {
  const result = await client.callTool({ name, arguments: given })
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`)
  return result.structuredContent as T
}

interface Decision {
  decision_subject: string
  decision_outcome: string
  decision_rationale: string
  verification: { verified: boolean }
}

/** Returns a decision about the subject, which the Hub has verified. */
async function findDecision(): Promise<Decision | undefined> {
  const found = { q: `"${subject}"`, record_type: 'decision' }
  const { results } = await call<{ results: { record_id: string }[] }>('search_records', found)
  for (const { record_id } of results) {
    const { record } = await call<{ record: Decision }>('get_record', { record_id, verify: true })
    if (record.decision_subject !== subject) continue
    if (record.verification.verified) return record
    throw new Error(`The record ${record_id} does not verify. Inform an auditor.`)
  }
  return undefined
}

function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 100)
}
