import { type InfiniteData, queryOptions, useQuery } from '@tanstack/react-query'
import { patterns } from '../../../contract/literals.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../provenance/index.ts'
import { api, hub } from '../../api/api-client.ts'
import type { HubRecord } from '../../api/hub-record.ts'
import { useMe } from '../../api/me.ts'
import { queryClient } from '../../api/query-client.ts'

export interface ReadRecord {
  record: HubRecord
  /** The same, as the verification takes it: all members, and nothing of what the Hub says of it. */
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

/** A record with its entity tag, and with what the Hub says of its provenance. Nothing is asked for what is no id. */
export function useRecord(recordId: string) {
  return useQuery({ ...recordQuery(recordId), enabled: isId(recordId) })
}

/** Who purged it and why, when it goes, and the holds over it: for whoever may know. */
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
 * After something was done to it: the record and its state are read again, and lists that it stands in show it as it is
 * now. Those are not read anew, which would be one call for each page of them.
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

/** Reads the list that is shown from its first page on, and no further: the rest is read as it comes into view. */
export async function readFirstPageAgain(): Promise<void> {
  queryClient.setQueriesData<InfiniteData<unknown>>({ queryKey: recordLists, type: 'active' }, (lists) =>
    lists?.pages === undefined ? lists : { pages: lists.pages.slice(0, 1), pageParams: lists.pageParams.slice(0, 1) },
  )
  await queryClient.invalidateQueries({ queryKey: recordLists, type: 'active' })
}

const recordLists = ['get', '/api/v1/hub/records']
