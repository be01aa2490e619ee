import { isJsonObject, type JsonObject } from '../../../../provenance/json.ts'
import type { EntryPart, ExportedRecord } from '../files/export-parts-types.ts'
import type { PartsFollower } from '../files/record-files.ts'
import type { LinesFile } from './stored-file.ts'
import { UsageTally } from './usage-tally.ts'

/** The `change` in the details of events about retention rules. */
const rulesChange = 'retention_rules'
/** Maximum number of rows of a list in the report. The files have all. */
export const listedMax = 500

export interface ListedEvent {
  at: string
  kind: string
  subject: string
  actor: string
}

type EventFiles = Record<'signIns' | 'configuration' | 'retentionChanges', LinesFile>

/** Copies sign-ins and changes of settings among the records of a period into files of their own, and sums up usage. */
export class PeriodRows implements PartsFollower {
  readonly #files: EventFiles
  readonly usage = new UsageTally()
  readonly listed: Record<keyof EventFiles, ListedEvent[]> = { signIns: [], configuration: [], retentionChanges: [] }

  constructor(files: EventFiles) {
    this.#files = files
  }

  async add(parts: readonly EntryPart[]): Promise<void> {
    for (const { records } of parts) {
      for (const record of records) {
        this.usage.add(record.members)
        for (const name of filesOf(record.members)) {
          await this.#files[name].add(rowOf(record))
          if (this.listed[name].length < listedMax) this.listed[name].push(listedEvent(record.members))
        }
      }
    }
  }
}

function filesOf({ record_type, event_kind, details }: JsonObject): (keyof EventFiles)[] {
  if (record_type !== 'governance_event' || typeof event_kind !== 'string') return []
  const family = event_kind.slice(0, event_kind.indexOf('.'))
  if (family === 'auth') return ['signIns']
  const isSetting = !['custom', 'hub'].includes(family) || /^hub\.(provisioned|restored)$/.test(event_kind)
  if (!isSetting) return []
  const isRetention = (details as JsonObject | undefined)?.change === rulesChange
  return isRetention ? ['configuration', 'retentionChanges'] : ['configuration']
}

/** Returns the record in its API form, as its row in `records.jsonl`. */
function rowOf({ answer, canonical, provenanceHash, provenanceCosign }: ExportedRecord): string {
  const added = `"is_purged":false,"provenance_hash":"${provenanceHash}","provenance_cosign":"${provenanceCosign}"`
  return answer ?? `${canonical.slice(0, -1)},${added}}`
}

function listedEvent({ created_at, event_kind, subject, details, created_by }: JsonObject): ListedEvent {
  const { actor = created_by, agent } = (details as JsonObject | undefined) ?? {}
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  const agentName = isJsonObject(agent) ? `, by “${text(agent.client_name)}”` : ''
  return { at: text(created_at), kind: text(event_kind), subject: text(subject), actor: `${text(actor)}${agentName}` }
}
