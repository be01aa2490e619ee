import { type Static, Type } from 'typebox'
import { searchLengthMax, searchPageSizeDefault, searchPageSizeMax, suggestionsMax } from '../../../contract/limits.ts'
import { recordTypes } from '../../../contract/literals.ts'
import { object } from '../../../contract/object-schema.ts'
import { NextCursor } from '../../../contract/response-schemas.ts'
import { exampleTime, RecordSchema } from '../../records/record-schemas.ts'

export const suggestionKinds = ['skill', 'person', 'archetype', 'model', 'record'] as const
export type SuggestionKind = (typeof suggestionKinds)[number]

const Text = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: searchLengthMax, description, examples: [example] })

export const searchQuery = object({
  q: Text('Words, "phrases", -excluded words and `or`', 'payment provider -stripe'),
  record_type: Type.Optional(Type.Enum([...recordTypes], { description: 'Only records of this type' })),
  skill_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Only outputs of this skill',
      examples: ['summarise-contract'],
    }),
  ),
  created_at__gte: Type.Optional(Type.String({ description: 'RFC 3339; inclusive', examples: [exampleTime] })),
  created_at__lte: Type.Optional(Type.String({ description: 'RFC 3339; inclusive', examples: [exampleTime] })),
  include_purged: Type.Optional(
    Type.Boolean({ default: false, description: 'Include purged records that can still be restored' }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: searchPageSizeMax,
      default: searchPageSizeDefault,
      description: 'Maximum number of results. A page of very large records ends early; `next_cursor` continues it',
    }),
  ),
  cursor: Type.Optional(Type.String({ minLength: 1, description: '`next_cursor` of the previous page' })),
})
export type SearchParameters = Static<typeof searchQuery>

const searchMatches = ['all', 'forms', 'some'] as const
export type SearchMatch = (typeof searchMatches)[number]

export const SearchPage = object({
  results: Type.Array(
    object({
      record: RecordSchema,
      score: Type.Number({ description: 'Relevance, comparable within one search', examples: [0.62] }),
      snippet: Type.String({
        description: 'Passage of the record as plain text, with ‹ and › around matches',
        examples: ['Choose a ‹payment› ‹provider› for Brazil'],
      }),
    }),
    { description: 'By score, then newest first' },
  ),
  next_cursor: NextCursor,
  match: Type.Optional(
    Type.Enum([...searchMatches], {
      description:
        'How the results match; absent if there are none. `all`: as the query says; `forms`: with other forms of its words, since no record has ' +
        'the words themselves; `some`: with some of its words or their forms, since no record has all of them',
      examples: ['all'],
    }),
  ),
  truncated: Type.Optional(
    Type.Literal(true, { description: 'Present if older records match, too: only the newest matches are ranked' }),
  ),
  partial: Type.Optional(
    Type.Literal('content is encrypted', { description: 'Present in Mode B: only members in clear are searched' }),
  ),
})

export type SearchAnswer = Static<typeof SearchPage>

export const suggestQuery = object({
  q: Text('Part of an id or a name, or the beginning of a word of records', 'contract'),
  kind: Type.Optional(Type.Enum([...suggestionKinds], { description: 'Only suggestions of this kind' })),
})

export const SuggestionList = object({
  items: Type.Array(
    object({
      kind: Type.Enum([...suggestionKinds]),
      id: Type.String({
        description: 'Id of the skill, person, archetype, model or record',
        examples: ['contract-review'],
      }),
      label: Type.String({ description: 'Name for people', examples: ['Contract review'] }),
    }),
    { maxItems: suggestionsMax },
  ),
  next_cursor: NextCursor,
})
export type Suggestion = Static<typeof SuggestionList>['items'][number]
