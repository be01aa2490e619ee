import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { patterns } from '../../../contract/literals.ts'
import { isJsonObject, type JsonObject } from '../../../provenance/json.ts'
import { type HubCall, HubCallError } from './hub-calls.ts'
import { bytesOf } from './tools/result-size.ts'
import { cut, recordUri, summarize } from './tools/tool.ts'

const mimeType = 'application/json'
const pageSize = 20
/** A text is escaped once in the result. */
const recordBytesMax = 30 * 1024

export const recordTemplate = {
  name: 'record',
  title: 'Record',
  uriTemplate: 'hub://records/{record_id}',
  description: 'A record of the organization as JSON, by its id. Use the tool get_record for records above 30 KiB.',
  mimeType,
}

/** Lists the newest decisions as resources. All other records are found by the tools. */
export async function listRecords(call: HubCall, cursor: string | undefined) {
  const query = { record_type: 'decision', sort: '-created_at', limit: pageSize, cursor }
  const { records = [], next_cursor } = await refused(() => call('queryRecords', { query }))
  return {
    resources: (Array.isArray(records) ? records : []).filter(isJsonObject).map((record) => {
      const { record_id, title } = summarize(record)
      return {
        uri: recordUri(String(record_id)),
        name: String(record_id),
        title: String(title),
        description: cut(String(record.decision_outcome ?? ''), 200),
        mimeType,
      }
    }),
    ...(typeof next_cursor === 'string' && { nextCursor: next_cursor }),
  }
}

/** Reads the record of a `hub://records/…` address. Throws ProtocolError for another one, and if it is too large. */
export async function readRecord(call: HubCall, uri: string) {
  const id = /^hub:\/\/records\/([^/?#]+)$/.exec(uri)?.[1]
  if (id === undefined || !new RegExp(patterns.uuid).test(id)) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The address is not hub://records/<record_id>.')
  }
  const record: JsonObject = await refused(() => call('getRecord', { path: { record_id: id } }))
  if (bytesOf(record) > recordBytesMax) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'The record is larger than 30 KiB. Read it in parts with the tool get_record.',
    )
  }
  return { contents: [{ uri, mimeType, text: JSON.stringify(record) }] }
}

async function refused<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof HubCallError)) throw error
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message)
  }
}
