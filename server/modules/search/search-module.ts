import type { FastifyInstance } from 'fastify'
import type { Database, DatabaseLog } from '../../db/database.ts'
import type { EventBus } from '../../event-bus.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { createRecordTitles } from './record-titles.ts'
import { documentsOf } from './search-documents.ts'
import { putDocuments } from './search-documents-store.ts'
import { SearchIndexer } from './search-indexer.ts'
import { addSearchRoutes } from './search-routes.ts'
import { createRecordSearch } from './search-service.ts'
import type { AnswerableRows } from './search-types.ts'
import { createSuggestions } from './suggest-service.ts'

/** Creates the search of records, and the suggestions. Records are indexed in the transactions that store them. */
export function createSearchModule(deps: {
  database: Database
  directory: TenantDirectory
  clock: RecordClock
  cursorKey: Buffer
  answerable: AnswerableRows
  events: EventBus
  log: DatabaseLog
}) {
  const search = createRecordSearch(deps)
  const suggestions = createSuggestions({ ...deps, titles: createRecordTitles(deps) })
  const indexer = new SearchIndexer({ ...deps, now: () => deps.clock.next().createdAt })
  deps.events.onInTransaction('recordsStored', async (tx, { records, isEncrypted }) =>
    putDocuments(tx, await documentsOf(records, isEncrypted)),
  )
  deps.events.on('searchLanguageChanged', ({ tenantId }) => indexer.languageChanged(tenantId))
  return { routes: (app: FastifyInstance) => addSearchRoutes(app, search, suggestions), indexer, matches: search }
}
