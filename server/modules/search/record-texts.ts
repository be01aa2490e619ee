import { isJsonObject, type JsonObject, type JsonValue } from '../../../provenance/json.ts'
import { serviceSubject } from '../../records/record-columns.ts'

/** A member of a record that is searched. */
export interface SearchedText {
  /** The weight of PostgreSQL: A for titles and subjects, B for rationales, C for content, D for roles and places. */
  weight: 'A' | 'B' | 'C' | 'D'
  text: string
}

type MembersByWeight = Readonly<Record<SearchedText['weight'], readonly string[]>>

const searchedMembers: Readonly<Record<string, MembersByWeight>> = {
  decision: {
    A: ['decision_subject', 'decision_id'],
    B: ['decision_outcome', 'decision_rationale'],
    C: [],
    D: ['decision_actor_role'],
  },
  output: { A: ['title'], B: ['skill_id'], C: ['content'], D: ['archetype_id', 'user_id', 'llm_model'] },
  artifact: { A: ['title'], B: [], C: ['content'], D: ['uri', 'media_type'] },
  skill_definition: { A: ['name', 'skill_id'], B: ['description'], C: ['manifest'], D: ['owner', 'skill_version'] },
  governance_event: { A: ['event_kind'], B: ['subject'], C: ['details'], D: [] },
}

/** The types whose records are searched. */
export const searchedTypes = Object.keys(searchedMembers)

/** Members that are columns of the record, and so in clear in Mode B, too. */
const clearMembers = ['skill_id', 'skill_version', 'archetype_id', 'user_id', 'event_kind']

/**
 * The events whose details are not searched. They repeat the query of an export, so that each would match the same
 * search later, which then finds more than the export.
 */
const eventsAboutExports: readonly unknown[] = ['hub.export_created', 'hub.export_cancelled']

/** Characters of a record that are searched. The words of a record must fit into 1 MiB in PostgreSQL. */
const indexedLengthMax = 60_000
const depthMax = 64

/**
 * Returns the searched members of a record, by weight. In Mode B these are the members in clear; records of the service
 * itself are never encrypted.
 *
 * @param lengthMax characters of all texts together
 */
export function searchedTexts(members: JsonObject, isEncrypted: boolean, lengthMax = indexedLengthMax): SearchedText[] {
  const byWeight = searchedMembers[String(members.record_type)]
  if (byWeight === undefined) return []
  const clearOnly = isEncrypted && members.created_by !== serviceSubject
  const texts: SearchedText[] = []
  let left = lengthMax
  for (const weight of ['A', 'B', 'C', 'D'] as const) {
    for (const name of byWeight[weight]) {
      if (clearOnly && !clearMembers.includes(name)) continue
      for (const text of textsIn(repeatsQuery(members, name) ? undefined : members[name])) {
        if (text === '') continue
        if (left <= 0) return texts
        const taken = text.slice(0, left).toWellFormed().normalize('NFC')
        left -= text.length
        texts.push({ weight, text: taken })
      }
    }
  }
  return texts
}

function repeatsQuery({ event_kind }: JsonObject, name: string): boolean {
  return name === 'details' && eventsAboutExports.includes(event_kind)
}

/** Returns the strings and numbers in a JSON value, in its order. */
function* textsIn(value: JsonValue | undefined, depth = 0): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'number') yield String(value)
  else if (Array.isArray(value) && depth < depthMax) for (const item of value) yield* textsIn(item, depth + 1)
  else if (isJsonObject(value) && depth < depthMax) {
    for (const item of Object.values(value)) if (item !== undefined) yield* textsIn(item, depth + 1)
  }
}
