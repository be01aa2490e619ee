import type { components, operations } from './openapi.ts'

type Schemas = components['schemas']
type Operation = keyof operations

/** The query parameters of an operation. */
type QueryOf<Name extends Operation> = NonNullable<operations[Name]['parameters']['query']>

/** The JSON body that an operation takes. */
type BodyOf<Name extends Operation> = operations[Name] extends {
  requestBody?: { content: { 'application/json': infer Body } }
}
  ? Body
  : never

/** The JSON body of the successful response of an operation. */
type ResultOf<Name extends Operation> = operations[Name]['responses'] extends infer Responses
  ? Responses[keyof Responses] extends { content: { 'application/json': infer Body } }
    ? Body
    : never
  : never

export type HubRecord = Schemas['Record']
export type NewRecord = BodyOf<'writeRecord'>
export type WrittenRecord = ResultOf<'writeRecord'>
export type RecordQuery = QueryOf<'queryRecords'>
export type RecordPage = ResultOf<'queryRecords'>
export type Verification = Schemas['Verification']
export type RelatedRecords = ResultOf<'getRelatedRecords'>
export type RelatedQuery = QueryOf<'getRelatedRecords'>
export type PurgedRecord = ResultOf<'purgeRecord'>
export type ProofBundle = Schemas['ProofBundle']
export type ProvenanceKeys = ResultOf<'getProvenanceKeys'>

export type SearchQuery = QueryOf<'searchRecords'>
export type SearchPage = ResultOf<'searchRecords'>
export type SearchResult = SearchPage['results'][number]
export type SuggestQuery = QueryOf<'suggest'>
export type Suggestions = ResultOf<'suggest'>

export type TelemetryEvent = Schemas['TelemetryEvent']
export type WrittenEvent = ResultOf<'ingestEvent'>
export type BatchResult = ResultOf<'ingestBatch'>
export type SummaryQuery = QueryOf<'summarizeTelemetry'>
export type Summary = ResultOf<'summarizeTelemetry'>

export type NewExport = BodyOf<'createExport'>
export type StartedExport = ResultOf<'createExport'>
export type ExportJob = Schemas['Export']
export type ExportPage = ResultOf<'listExports'>
