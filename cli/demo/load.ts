import type { HubClient } from '../../sdk/hub-client.ts'
import { archetypes, skills } from './cast.ts'
import { type DemoRecord, markerOf, markerTitle, storyOf } from './story.ts'
import { type DemoEvent, eventOf, type Invocation } from './trace.ts'

const batchSize = 1000
const batchesInFlight = 2
const pageSize = 1000

interface StoredRecord {
  record_id: string
  title?: string
  decision_id?: string
  content?: { ends_at?: string }
  metadata?: { demo_row?: number }
}

interface BatchAnswer {
  accepted: number
  failed: number
  errors?: { index: number; detail: string }[]
}

/** Told how many of the rows are stored, each time a batch is. */
export type Progress = (stored: number, total: number) => void

export interface Loaded {
  events: DemoEvent[]
  eventsSent: number
  eventsFound: number
  sendSeconds: number
  recordsWritten: number
  recordsFound: number
}

/**
 * Brings the demo data into the Hub, over HTTP and as `clientId`. What an earlier run wrote is found and left alone,
 * by what the records themselves say, so that a run of any age or one that was cut short is completed, not doubled.
 */
export async function loadDemo(
  hub: HubClient,
  clientId: string,
  trace: Invocation[],
  progress: Progress,
): Promise<Loaded> {
  await registerArchetypes(hub)
  await publishSkills(hub)

  const artifacts = await ownRecords(hub, clientId, 'artifact')
  const startMicros = await startOfTrace(hub, artifacts, trace)
  const events = trace.map((invocation) => eventOf(invocation, startMicros))

  const rowsStored = new Set(
    (await ownRecords(hub, clientId, 'telemetry_event')).map((record) => record.metadata?.demo_row),
  )
  const missing = events.filter((event) => !rowsStored.has(event.metadata.demo_row))
  const began = performance.now()
  await sendEvents(hub, missing, startMicros, (sent) => progress(rowsStored.size + sent, events.length))
  const sendSeconds = (performance.now() - began) / 1000

  const others = [...(await ownRecords(hub, clientId, 'output')), ...(await ownRecords(hub, clientId, 'decision'))]
  const story = storyOf(events)
  const recordsWritten = await writeMissing(hub, story, [...artifacts, ...others], startMicros)
  return {
    events,
    eventsSent: missing.length,
    eventsFound: rowsStored.size,
    sendSeconds,
    recordsWritten,
    recordsFound: story.length - recordsWritten,
  }
}

async function registerArchetypes(hub: HubClient): Promise<void> {
  const present: { archetype_id: string; name?: string }[] = []
  let cursor: string | undefined
  do {
    const page = await hub.get<{ items: typeof present; next_cursor: string | null }>('/api/v1/roster/archetypes', {
      cursor,
    })
    present.push(...page.items)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  const missing = archetypes.filter((one) => !present.some((other) => other.archetype_id === one.archetype_id))
  if (missing.length > 0) await hub.put('/api/v1/roster/archetypes', { archetypes: [...present, ...missing] })
}

async function publishSkills(hub: HubClient): Promise<void> {
  const states = new Map<string, string>()
  let cursor: string | undefined
  do {
    const page = await hub.get<{ items: { skill_id: string; state: string }[]; next_cursor: string | null }>(
      '/api/v1/skill-entitlement/skills',
      { cursor },
    )
    for (const item of page.items) states.set(item.skill_id, item.state)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  for (const skill of skills) {
    if (!states.has(skill.id)) {
      await hub.post('/api/v1/hub/records', {
        body: { record_type: 'skill_definition', skill_id: skill.id, skill_version: skill.version, name: skill.name },
      })
    }
    if ((states.get(skill.id) ?? 'draft') === 'draft') {
      await hub.post(`/api/v1/skill-entitlement/skills/${skill.id}:transition`, { body: { state: 'published' } })
    }
  }
}

/** Microseconds since the epoch at which the trace starts: it ends when the demo first ran, which the marker keeps. */
async function startOfTrace(hub: HubClient, artifacts: StoredRecord[], trace: Invocation[]): Promise<number> {
  const lengthMicros = trace.at(-1)!.offsetMicros
  const marker = artifacts.find((record) => record.title === markerTitle)
  if (marker?.content?.ends_at !== undefined) return microsOf(marker.content.ends_at) - lengthMicros
  const endMicros = Date.now() * 1000
  await hub.post('/api/v1/hub/records', { body: markerOf(endMicros, trace.length).body })
  return endMicros - lengthMicros
}

function microsOf(timestamp: string): number {
  return Date.parse(`${timestamp.slice(0, 23)}Z`) * 1000 + Number(timestamp.slice(23, 26))
}

async function ownRecords(hub: HubClient, clientId: string, recordType: string): Promise<StoredRecord[]> {
  const found: StoredRecord[] = []
  let cursor: string | undefined
  do {
    const page = await hub.get<{ records: StoredRecord[]; next_cursor: string | null }>('/api/v1/hub/records', {
      record_type: recordType,
      created_by: clientId,
      limit: pageSize,
      cursor,
    })
    found.push(...page.records)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return found
}

async function sendEvents(
  hub: HubClient,
  events: DemoEvent[],
  startMicros: number,
  progress: (sent: number) => void,
): Promise<void> {
  const batches: DemoEvent[][] = []
  for (let start = 0; start < events.length; start += batchSize) batches.push(events.slice(start, start + batchSize))
  let sent = 0
  const worker = async () => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      const first = batch[0]!.metadata.demo_row
      const last = batch.at(-1)!.metadata.demo_row
      const answer = await hub.post<BatchAnswer>('/api/v1/telemetry/events:batch', {
        body: { events: batch },
        idempotencyKey: `demo-${startMicros}-${first}-${last}`,
      })
      if (answer.failed > 0) throw new Error(`The Hub refused ${answer.failed} events: ${answer.errors?.[0]?.detail}`)
      sent += answer.accepted
      progress(sent)
    }
  }
  await Promise.all(Array.from({ length: batchesInFlight }, worker))
}

/** Writes the records of the story that are not stored yet, sources first, and returns how many those were. */
async function writeMissing(
  hub: HubClient,
  story: DemoRecord[],
  stored: StoredRecord[],
  startMicros: number,
): Promise<number> {
  const ids = new Map(stored.map((record) => [record.decision_id ?? record.title, record.record_id]))
  let written = 0
  for (const { key, relatedKeys, body } of story) {
    if (ids.has(key)) continue
    const receipt = await hub.post<{ record_id: string }>('/api/v1/hub/records', {
      body: { ...body, related_records: relatedKeys.map((related) => ids.get(related)) },
      idempotencyKey: `demo-${startMicros}-${key.replaceAll(' ', '-')}`,
    })
    ids.set(key, receipt.record_id)
    written += 1
  }
  return written
}
