import type { FastifyInstance } from 'fastify'
import { searchWordsMax } from '../../../contract/limits.ts'
import { addRoute, rawJson } from '../../http/route.ts'
import { SearchPage, SuggestionList, searchQuery, suggestQuery } from './search-schemas.ts'
import type { RecordSearch } from './search-service.ts'
import type { Suggestions } from './suggest-service.ts'

export function addSearchRoutes(app: FastifyInstance, search: RecordSearch, suggestions: Suggestions): void {
  addRoute(
    app,
    'searchRecords',
    {
      description:
        'Searches titles, names, decisions, content and ids of records of the types that the token may read; ' +
        'telemetry events are not searched. Words are combined by and; `"…"` finds a phrase, `-` excludes a word, ' +
        'and `or` separates alternatives. If no record has all words of a plain list, records with similar words ' +
        'or with some of the words are returned, and `match` says so. In Mode B only members in clear are searched, and the response ' +
        'says so in `partial`. Only the newest 10,000 matches are ranked, or 2,000 of those with similar or some words; ' +
        '`truncated` says that there are more. A search that takes more than 2 s is answered with 503.',
      querystring: searchQuery,
      response: { 200: SearchPage },
      problems: ['invalid-cursor'],
    },
    async (request, reply) => rawJson(reply, await search.search(request.caller, request.query)),
  )

  addRoute(
    app,
    'suggest',
    {
      description:
        'Returns up to 10 suggestions of the kinds that the token may read. Ids and names contain the text; records ' +
        'have its words, the last of which may be unfinished from its third character on. Of more than ' +
        `${searchWordsMax} words, the longest and the last count.`,
      querystring: suggestQuery,
      response: { 200: SuggestionList },
    },
    async (request) => ({ items: await suggestions.suggest(request.caller, request.query), next_cursor: null }),
  )
}
