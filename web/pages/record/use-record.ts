import { type InfiniteData, queryOptions, useQuery } from '@tanstack/react-query'
import { patterns } from '../../../contract/literals.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../provenance/index.ts'
import { api, hub } from '../../api/api-client.ts'
import type { HubRecord } from '../../api/hub-record.ts'
import { useMe } from '../../api/me.ts'
import { queryClient } from '../../api/query-client.ts'

export interface ReadRecord {
  record: HubRecord
  /** The same record for verification: all members except the Hub's own verdict. */
  json: JsonObject
  etag: string | undefined
  readAt: number
}

const recordQuery = (recordId: string) =>
  queryOptions({
    queryKey: ['record', recordId],
    structuralSharing: false,
    queryFn: async (): Promise<ReadRecord> => {
      const params = { path: { record_id: recordId }, query: { verify: true } }
      const { data, response } = await hub.GET('/api/v1/hub/records/{record_id}', { params })
      const record = data!
      if (!isJsonObject(record as unknown as JsonValue))
        throw new Error('The Hub answered something that is no record.')
      const etag = response.headers.get('etag') ?? undefined
      return { record, json: record as unknown as JsonObject, etag, readAt: Date.now() }
    },
  })

export const isId = (text: string) => new RegExp(patterns.uuid).test(text)

/** Returns a record with its entity tag and the Hub's verdict on its provenance. Requests nothing for an invalid id. */
export function useRecord(recordId: string) {
  return useQuery({ ...recordQuery(recordId), enabled: isId(recordId) })
}

/** Returns who purged the record and why, when it is erased, and its holds, for users who may know. */
export function useRecordState(recordId: string) {
  const { may } = useMe()
  const params = { path: { record_id: recordId } }
  return api.useQuery(
    'get',
    '/api/v1/hub/records/{record_id}/state',
    { params },
    { enabled: isId(recordId) && may('getRecordState') },
  )
}

/**
 * Refreshes pages after an action on a record: reads the record and its state again, and updates the record in loaded
 * lists. Does not reload the lists, which would take a call for each of their pages.
 */
export async function readAgain(recordId: string): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: recordQuery(recordId).queryKey }),
    queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/hub/records/{record_id}/state'] }),
    queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/hub/legal-holds'] }),
  ])
  const isPurged = queryClient.getQueryData(recordQuery(recordId).queryKey)?.record.is_purged
  queryClient.setQueriesData<InfiniteData<{ records: HubRecord[] }>>({ queryKey: recordLists }, (lists) =>
    lists?.pages === undefined || isPurged === undefined
      ? lists
      : {
          ...lists,
          pages: lists.pages.map((page) => ({
            ...page,
            records: page.records.map((each) =>
              each.record_id === recordId ? { ...each, is_purged: isPurged } : each,
            ),
          })),
        },
  )
}

/** Reloads the shown list from its first page; the rest loads as it comes into view. */
export async function readFirstPageAgain(): Promise<void> {
  queryClient.setQueriesData<InfiniteData<unknown>>({ queryKey: recordLists, type: 'active' }, (lists) =>
    lists?.pages === undefined ? lists : { pages: lists.pages.slice(0, 1), pageParams: lists.pageParams.slice(0, 1) },
  )
  await queryClient.invalidateQueries({ queryKey: recordLists, type: 'active' })
}

const recordLists = ['get', '/api/v1/hub/records']
