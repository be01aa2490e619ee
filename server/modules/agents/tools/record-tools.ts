import { Type } from 'typebox'
import { relatedDepthMax } from '../../../../contract/limits.ts'
import { isJsonObject, type JsonObject } from '../../../../provenance/json.ts'
import { HubCallError } from '../hub-calls.ts'
import { bytesOf, contentBytesMax, fittingItems, splitRecord } from './result-size.ts'
import { closed, cursorInput, defineTool, nextCursor, object, recordIdInput, recordSummary, summarize } from './tool.ts'

const anyRecord = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Members depend on `record_type`: decision, output, artifact, governance_event, skill_definition or telemetry_event',
})

const checks = Type.Object(
  {
    provenance_hash_matches: Type.Boolean({ description: 'The content is what was sealed' }),
    provenance_cosign_valid: Type.Boolean({ description: 'A key of the tenant signed the seal' }),
    schema_version_supported: Type.Boolean(),
    no_active_legal_hold_violation: Type.Boolean({ description: 'It was not purged while a legal hold was active' }),
  },
  { additionalProperties: true },
)

/** An offset that this server returned as a cursor. */
function offsetIn(cursor: string | undefined): number {
  const offset = cursor === undefined ? 0 : Number(/^\d{1,9}$/.exec(cursor)?.[0] ?? Number.NaN)
  if (Number.isNaN(offset)) {
    throw new HubCallError(
      400,
      { title: 'Validation failed', detail: 'cursor must be a next_cursor of this tool.' },
      undefined,
    )
  }
  return offset
}

export const getRecord = defineTool({
  name: 'get_record',
  title: 'Get a record',
  description: `Returns one record of the organization's memory by its id: a decision, output, artifact, skill definition, governance event or telemetry event.

Use it to read the full text of a record whose id you have from search_records, related_records or a link. Use verify_record instead if you only need to know whether a record is genuine.

Bounds: a record above 20 KiB is returned in parts. \`record\` then has the small members, \`omitted_members\` names the others, and \`omitted_text\` is a part of their JSON text: call again with \`cursor\` = \`next_cursor\` and append, until it is null. Unknown ids, erased records and types that your token may not read are "not found".

Example: {"record_id": "019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a"}`,
  operation: 'getRecord',
  isReadOnly: true,
  input: object(
    {
      record_id: recordIdInput,
      verify: Type.Optional(
        Type.Boolean({ description: 'Also verify the record; the result is `record.verification`' }),
      ),
      cursor: cursorInput,
    },
    closed,
  ),
  output: object({
    record: anyRecord,
    omitted_members: Type.Optional(Type.Array(Type.String(), { description: 'Members that are not in `record`' })),
    omitted_text: Type.Optional(Type.String({ description: 'A part of the JSON text of the omitted members' })),
    next_cursor: nextCursor,
  }),
  async run({ record_id, verify, cursor }, { call }) {
    const offset = offsetIn(cursor)
    const record = await call('getRecord', { path: { record_id }, query: { verify } })
    if (cursor === undefined && bytesOf(record) <= contentBytesMax - 100) return { record, next_cursor: null }
    return splitRecord(record, offset)
  },
})

const linksShownMax = 10

export const relatedRecords = defineTool({
  name: 'related_records',
  title: 'Find related records',
  description: `Walks the links between records, breadth first from one record: which output a decision is based on, which decisions refer to an artifact, which outputs follow from an output.

Use it to find the context or the consequences of a record. Use search_records to find records by words instead.

Bounds: depth 1 to ${relatedDepthMax} (default 1), at most 1,000 records in a walk (\`truncated\` says that there are more), 20 of them in a result. Each has up to ${linksShownMax} ids of records that it names (\`links\`). Purged records are left out.

Example: {"record_id": "019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a", "depth": 2, "direction": "in"}`,
  operation: 'getRelatedRecords',
  isReadOnly: true,
  input: object(
    {
      record_id: recordIdInput,
      depth: Type.Optional(
        Type.Integer({ minimum: 1, maximum: relatedDepthMax, description: 'Number of hops; default 1' }),
      ),
      direction: Type.Optional(
        Type.Enum(['both', 'out', 'in'], {
          description: '`out`: records that it names; `in`: records that name it; default `both`',
        }),
      ),
      cursor: cursorInput,
    },
    closed,
  ),
  output: object({
    root: Type.String({ description: 'The record of the call; the first of `records`' }),
    records: Type.Array(
      object(
        {
          ...recordSummary.properties,
          links: Type.Array(Type.String(), { description: 'Ids in the walk that this record names' }),
          links_total: Type.Integer({ description: 'Number of such ids' }),
        },
        { additionalProperties: true },
      ),
    ),
    truncated: Type.Boolean({ description: 'Whether the walk has more than 1,000 records' }),
    next_cursor: nextCursor,
  }),
  async run({ record_id, depth, direction, cursor }, { call }) {
    const from = offsetIn(cursor)
    const walk = await call('getRelatedRecords', { path: { record_id }, query: { depth, direction } })
    const links = new Map<string, string[]>()
    for (const edge of objectsIn(walk.edges)) {
      const named = links.get(String(edge.from)) ?? []
      links.set(String(edge.from), named)
      named.push(String(edge.to))
    }
    const items = objectsIn(walk.records).map((record) => {
      const named = links.get(String(record.record_id)) ?? []
      return { ...summarize(record), links: named.slice(0, linksShownMax), links_total: named.length }
    })
    const { page, next } = fittingItems(items, from, { most: 20, bytes: contentBytesMax - 1024 })
    const hasMore = next < items.length
    return {
      root: walk.root ?? record_id,
      records: page,
      truncated: walk.truncated === true,
      next_cursor: hasMore ? String(next) : null,
    }
  },
})

function objectsIn(value: JsonObject[string] | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((item): item is JsonObject => isJsonObject(item)) : []
}

export const verifyRecord = defineTool({
  name: 'verify_record',
  title: 'Verify a record',
  description: `Checks that a record is what the Hub sealed: its hash, its cosignature, its schema version, and that it was not purged against a legal hold.

Use it before you rely on a record for a decision, or when someone asks whether a record is genuine. A record with \`verified: false\` was altered: say so, and do not use its content.

Bounds: one record a call. The Hub makes the check; for a check without trust in the Hub, a person downloads the proof of the record and runs \`hub verify\`.

Example: {"record_id": "019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a"}`,
  operation: 'verifyRecord',
  isReadOnly: true,
  input: object({ record_id: recordIdInput }, closed),
  output: object(
    { record_id: Type.String(), verified: Type.Boolean({ description: 'Whether all checks passed' }), checks },
    { additionalProperties: true },
  ),
  run: async ({ record_id }, { call }) => ({
    record_id,
    ...(await call('verifyRecord', { path: { record_id } })),
  }),
})
