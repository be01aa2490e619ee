import { setTimeout as delay } from 'node:timers/promises'
import { must } from '../../api/webhook-cases.ts'
import type { TestHub } from '../../support/hub.ts'
import { people, skills } from './fixtures.ts'

/** Records that tests and people look for. */
export interface WorldRecords {
  /** Links to 60 artifacts. */
  hubOfLinks: string
  /** Five steps away from the first of its chain. */
  endOfChain: string
  decision: string
  purged: string
  /** Under a legal hold. */
  held: string
  /** Outputs by what is in them. */
  contents: Record<keyof typeof contents, string>
}

/** What may never run when somebody looks at it. */
const html = '<img src=x onerror="window.ran = 1"><script>window.ran = 1</script><b>bold?</b>'

const contents = {
  markdown: {
    content_type: 'text/markdown',
    content:
      '# Refund policy\n\nDear customer,\n\n- your order **#4711** is refunded\n- the money takes *three to five* days\n\n| Step | Who |\n| --- | --- |\n| Approve | Support |\n| Pay | Finance |\n\n```sql\nselect 1;\n```\n\n[Help](https://help.acme.example/refunds)',
  },
  json: {
    content_type: 'application/json',
    content: {
      summary: 'Three deviations',
      items: [{ clause: '7.2', risk: 'high' }],
      totals: { words: 812, cost: 0.12 },
    },
  },
  longText: {
    content_type: 'text/plain',
    content: 'The quick brown fox jumps over the lazy dog, and comes back to do it again. '.repeat(400),
  },
  html: { content_type: 'text/html', content: html },
  markdownWithHtml: { content_type: 'text/markdown', content: `# Title\n\n${html}\n\n[link](javascript:window.ran=1)` },
  code: { content_type: 'text/x-python', content: 'def total(rows):\n    return sum(row.cost for row in rows)\n' },
} as const

/** Artifacts, outputs, decisions, a graph, events of one's own; a purged record and holds. */
export async function writeRecords(hub: TestHub): Promise<WorldRecords> {
  const call = (method: string, path: string, body?: object) =>
    must(hub, 'acme', method, path, body === undefined ? {} : { body })
  const write = async (body: object): Promise<string> =>
    (await call('POST', '/api/v1/hub/records', body)).body.record_id
  const artifact = (title: string, related: string[] = []) =>
    write({
      ...{ record_type: 'artifact', title, media_type: 'text/markdown', uri: 'https://wiki.acme.example/pages/1' },
      ...{ content: { excerpt: `Background: ${title}` }, related_records: related },
    })
  const output = (index: number, related: string[], more: object = {}) => {
    const { skill_id, skill_version, archetypes, name } = skills[index % 7]!
    const person = people.find(({ archetypeId }) => archetypeId === archetypes[0])!
    return write({
      ...{
        record_type: 'output',
        skill_id,
        skill_version,
        archetype_id: archetypes[0],
        title: `${name}, no. ${index}`,
      },
      ...{ user_id: `user:${person.email}`, llm_platform: 'claude', llm_model: 'claude-sonnet-4-5' },
      ...{ cost_usd_estimate: 0.01 * (index + 1), content_type: 'application/json', content: { words: 100 + index } },
      ...{ related_records: related, ...more },
    })
  }

  const sources = await inTurn(60, (index) => artifact(`Source ${index + 1} of the handbook`))
  const hubOfLinks = await write({
    ...{ record_type: 'skill_definition', skill_id: 'kb.handbook', skill_version: '1.0.0', name: 'The handbook' },
    ...{ description: 'Draws on sixty sources.', related_records: sources },
  })
  const ids = await inTurn(24, (index) => output(index, [sources[index]!, ...(index % 3 === 1 ? [hubOfLinks] : [])]))
  // Each version names the one before it, and what it is made of.
  let endOfChain = hubOfLinks
  for (let step = 1; step <= 6; step++) {
    endOfChain = await write({
      ...{
        record_type: 'skill_definition',
        skill_id: 'kb.handbook',
        skill_version: `1.${step}.0`,
        name: 'The handbook',
      },
      related_records: [endOfChain, ids[step]!, sources[step]!],
    })
  }
  let decision = ''
  for (const [index, outcome] of ['approved', 'approved with changes', 'rejected', 'deferred'].entries()) {
    decision = await write({
      ...{ record_type: 'decision', decision_id: `DEC-${2041 + index}`, decision_outcome: outcome },
      decision_subject: `Use of six drafts in the campaign of week ${40 + index}`,
      decision_rationale: 'Reviewed against the sources that each draft names; two figures were corrected.',
      ...{ decision_actor_role: 'team lead', related_records: ids.slice(index * 6, index * 6 + 6) },
    })
  }
  const kinds = Object.entries(contents)
  const made = await inTurn(kinds.length, (index) => {
    const [name, more] = kinds[index]!
    return output(index, [sources[0]!], { title: `Content: ${name}`, ...more })
  })
  for (const event_kind of ['custom.review-finished', 'custom.policy-published'])
    await write({ record_type: 'governance_event', event_kind, subject: 'policy:refunds', details: { by: 'legal' } })

  const purged = await artifact('A draft that nobody needs')
  await call('DELETE', `/api/v1/hub/records/${purged}?reason=${encodeURIComponent('Written by mistake')}`)
  const hold = (name: string, more: object) =>
    call('POST', '/api/v1/hub/legal-holds', { name, reason: 'Asked for by counsel', ...more })
  await hold('Case 2041: supplier dispute', { record_ids: ids.slice(0, 3) })
  await hold('Audit of the third quarter', { filter: { record_type: ['decision'] } })
  const { hold_id } = (await hold('Case 1988: settled', { record_ids: [ids[4]!] })).body
  await call('POST', `/api/v1/hub/legal-holds/${hold_id}:release`, { reason: 'The matter is settled' })
  return {
    ...{ hubOfLinks, endOfChain, decision, purged, held: ids[0]! },
    contents: Object.fromEntries(kinds.map(([name], index) => [name, made[index]!])) as WorldRecords['contents'],
  }
}

/** An export that is complete, one that is cancelled and one that failed. */
export async function exportRecords(hub: TestHub): Promise<void> {
  const order = async (body: object) => (await must(hub, 'acme', 'POST', '/api/v1/hub/records:export', { body })).body
  const { job_id: done } = await order({
    ...{ filter: { record_type: ['output', 'artifact', 'decision'] }, format: 'jsonl' },
    ...{ verify: true, include_provenance: true },
  })
  await settled(hub, done)
  // Cancelled as it waits for a worker to look.
  const { job_id: unwanted } = await order({ filter: { record_type: ['telemetry_event'] }, format: 'csv' })
  await hub.call('acme', 'POST', `/api/v1/hub/exports/${unwanted}:cancel`, { body: {} })
  const { job_id: failed } = await order({ filter: { record_type: ['decision'] }, format: 'parquet' })
  await settled(hub, failed)
  await (await hub.superuserClient()).query(
    `update hub.exports set status = 'failed', size_bytes = null, expires_at = null, error = $2
     where tenant_id = 'acme' and job_id = $1`,
    [failed, { slug: 'hub-unavailable', detail: 'The storage could not be reached.' }],
  )
}

async function settled(hub: TestHub, jobId: string): Promise<void> {
  for (;;) {
    const { body } = await must(hub, 'acme', 'GET', `/api/v1/hub/exports/${jobId}`)
    if (!['queued', 'running'].includes(body.status)) return
    await delay(50)
  }
}

async function inTurn<Value>(count: number, work: (index: number) => Promise<Value>): Promise<Value[]> {
  const all: Value[] = []
  for (let index = 0; index < count; index++) all.push(await work(index))
  return all
}
