import type { Command } from 'commander'
import { searchPageSizeDefault, searchPageSizeMax } from '../../contract/limits.ts'
import { searchQuery } from '../../server/modules/search/search-schemas.ts'
import { addPageOptions, collectPages, firstPage, moreText } from '../collect-pages.ts'
import { openHub } from '../hub-connection.ts'
import { example, type OutputOptions, printResult } from '../output.ts'
import { addSchemaOptions } from '../query-options.ts'
import { nameOf } from '../record-table.ts'
import { terminalWidth, textTable } from '../text-table.ts'

interface SearchOptions extends OutputOptions {
  limit: number
  cursor?: string
  [filter: string]: unknown
}

export function addSearchCommand(program: Command): void {
  const command = program
    .command('search <words...>')
    .description(
      'Find records by their words: words, "phrases", -excluded words and or. Write -- before excluded words',
    )
    .addHelpText('after', example('search payment provider --record-type decision'))
  const filters = addSchemaOptions(command, searchQuery, ['q', 'limit', 'cursor'])
  addPageOptions(command, searchPageSizeDefault)
    .option('--json', 'print one JSON object')
    .action(async (words: string[], options: SearchOptions) => {
      const hub = await openHub()
      const query = filters.read(options)
      const { items, next_cursor, page } = await collectPages(
        (limit, cursor) => firstPage(hub.search(words.join(' '), { ...query, limit, ...(cursor && { cursor }) })),
        (answer) => answer.results,
        { limit: options.limit, cursor: options.cursor, pageSize: searchPageSizeMax },
      )
      const { match, truncated, partial } = page
      const table = textTable(
        [
          { heading: 'SCORE', value: ({ score }) => score.toFixed(2), isRight: true },
          { heading: 'RECORD', value: ({ record }) => record.record_id },
          { heading: 'TYPE', value: ({ record }) => (record as { record_type?: unknown }).record_type },
          { heading: 'NAME', value: ({ record }) => nameOf(record) },
          { heading: 'PASSAGE', value: ({ snippet }) => snippet },
        ],
        items,
        terminalWidth(),
      )
      const lines = [
        items.length === 0 ? 'No record matches.' : table,
        ...(match ? loosened[match] : []),
        ...(truncated
          ? ['Older records match, too: only the newest matches were ranked. Use rarer words or filters.']
          : []),
        ...(partial ? ['Content is encrypted: only members in clear were searched.'] : []),
      ]
      const result = { results: items, next_cursor, match, truncated, partial }
      printResult(options, result, `${lines.join('\n')}${moreText(next_cursor)}`)
    })
}

/** Notes on results that do not match as the query says. */
const loosened = {
  all: [],
  forms: ['No record has these words. The results have other forms of them.'],
  some: ['No record has all of these words. The results have some of them.'],
} as const
