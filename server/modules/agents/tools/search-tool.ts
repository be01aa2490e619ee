import { Type } from 'typebox'
import { searchLengthMax } from '../../../../contract/limits.ts'
import { recordTypes } from '../../../../contract/literals.ts'
import { isJsonObject, type JsonObject } from '../../../../provenance/json.ts'
import { fittingPage } from './result-size.ts'
import { closed, cursorInput, defineTool, nextCursor, object, recordSummary, summarize } from './tool.ts'

const resultsMax = 20
const resultsDefault = 10
const time = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 64, description }))

export const searchRecords = defineTool({
  name: 'search_records',
  title: 'Search records',
  description: `Finds records of the organization's memory by their words: decisions, outputs, artifacts, skill definitions and governance events. The best matches come first, each with the passage that matches.

Use it first for questions such as "why did we choose this vendor" or "has anyone decided about data retention", and before you record a decision, to find earlier ones on the subject. Use get_record to read a result in full. Use telemetry_summary for usage and costs: telemetry events are not searched.

Syntax: words, "an exact phrase", -excluded, or. Results have all words (\`match\` is "all"). If no record has them all, \`match\` is "forms" for results with other forms of the words, or "some" for results with only some of them: read these before you rely on them. Bounds: up to ${searchLengthMax} characters and ${resultsMax} results a call; only types that your token may read; \`truncated\` says that older records match, too; \`partial\` says that encrypted content was not searched.

Example: {"q": "payment provider -stripe", "record_type": "decision"}`,
  operation: 'searchRecords',
  isReadOnly: true,
  input: object(
    {
      q: Type.String({ minLength: 1, maxLength: searchLengthMax, description: 'Words to search for' }),
      record_type: Type.Optional(Type.Enum([...recordTypes], { description: 'Only records of this type' })),
      skill_id: Type.Optional(
        Type.String({ minLength: 1, maxLength: 128, description: 'Only outputs of this skill; see list_skills' }),
      ),
      created_at__gte: time('Start, inclusive, RFC 3339 such as 2026-03-01T00:00:00Z'),
      created_at__lte: time('End, inclusive, RFC 3339'),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: resultsMax,
          description: `Maximum number of results; default ${resultsDefault}`,
        }),
      ),
      cursor: cursorInput,
    },
    closed,
  ),
  output: object({
    results: Type.Array(
      object(
        {
          ...recordSummary.properties,
          snippet: Type.String({ description: 'Passage with ‹ and › around matches' }),
          score: Type.Number({ description: 'Relevance, comparable within one search' }),
        },
        { additionalProperties: true },
      ),
    ),
    match: Type.Optional(
      Type.String({ description: 'all: results have all words; forms: other forms of them; some: only some of them' }),
    ),
    truncated: Type.Optional(
      Type.Boolean({
        description: 'Present if older records match, too. Narrow the search by words, type, skill or time',
      }),
    ),
    partial: Type.Optional(Type.String({ description: 'Present if encrypted content was not searched' })),
    next_cursor: nextCursor,
  }),
  run: ({ limit = resultsDefault, ...query }, { call }) =>
    fittingPage(limit, async (count) => {
      const page = await call('searchRecords', { query: { ...query, limit: count } })
      return { ...page, results: (page.results as JsonObject[]).map(shorten) }
    }),
})

/** Returns what a list shows of a result. */
function shorten({ record, snippet = '', score = 0 }: JsonObject): JsonObject {
  return { ...summarize(record !== undefined && isJsonObject(record) ? record : {}), snippet, score }
}
