import { Type } from 'typebox'
import { ExportFilterBody } from '../../../contract/export-filter.ts'
import { evidenceNoteLengthMax, exportHours } from '../../../contract/limits.ts'
import { object } from '../../../contract/object-schema.ts'
import { NextCursor } from '../../../contract/response-schemas.ts'

const exampleId = 'exp_7Kd2mQx9RtVb4LhZs8WcNp3F'
const exampleFile = `${exampleId}.jsonl`
const exampleUrl = `https://hub.example.com/api/v1/hub/exports/${exampleId}/${exampleFile}?tenant=acme&expires=1767312000&signature=…`

const time = (description: string) => Type.String({ description, examples: ['2026-01-01T00:00:00.000000Z'] })
const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [1000] })

const JobId = Type.String({ description: 'Id of the export', examples: [exampleId] })
const Format = Type.Enum(['jsonl', 'csv', 'parquet'], { default: 'jsonl', examples: ['jsonl'] })

export const ExportBody = object({
  filter: Type.Optional(ExportFilterBody),
  format: Type.Optional(Format),
  compression: Type.Optional(
    Type.Enum(['gzip'], {
      description: 'Compression of the file. Not available with parquet, which compresses its columns itself',
    }),
  ),
  verify: Type.Optional(
    Type.Boolean({ default: false, description: 'Verify every record and include the result per row and in total' }),
  ),
  include_provenance: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Include hash and cosignature of each record, so that each verifies offline (`hub verify`). Otherwise ' +
        'only the whole file verifies, against the signed manifest.',
    }),
  ),
})

export const EvidencePackBody = object({
  from: Type.String({ description: 'Start of the period, RFC 3339; inclusive', examples: ['2026-01-01T00:00:00Z'] }),
  to: Type.String({
    description: 'End of the period, RFC 3339; exclusive, and not in the future',
    examples: ['2026-07-01T00:00:00Z'],
  }),
  note: Type.Optional(
    Type.String({
      maxLength: evidenceNoteLengthMax,
      description: 'Purpose of the pack, for its readers',
      examples: ['Request 4711 of the market surveillance authority'],
    }),
  ),
  include_content: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Include the content of decisions, outputs, artifacts and skill definitions. Without it these records have ' +
        'their id, type, time, author, skill, hash and proof. Governance and telemetry events are always complete.',
    }),
  ),
})

export const ExportParams = object({ job_id: JobId })

export const ExportSchema = object(
  {
    job_id: JobId,
    status: Type.Enum(['queued', 'running', 'completed', 'failed', 'cancelled', 'expired'], {
      examples: ['completed'],
    }),
    format: Format,
    created_at: time('Time of the request'),
    estimated_completion_ts: time(
      'Estimated completion, refined while it runs; for a completed export the actual time',
    ),
    progress: object({
      done: count('Rows written so far'),
      total: count('Rows of the file; an estimate until it is completed, 0 while it waits'),
    }),
    download_url: Type.Optional(
      Type.String({
        description: `Address of the completed file. It is its own credential and valid for ${exportHours} hours`,
        examples: [exampleUrl],
      }),
    ),
    manifest_url: Type.Optional(
      Type.String({
        description:
          'Address of the signed manifest that proves the file, valid in the same way; an evidence pack contains its manifest',
        examples: [exampleUrl.replace('.jsonl', '.jsonl.manifest.json')],
      }),
    ),
    evidence_pack: Type.Optional(
      object(
        {
          from: time('Start of the period; inclusive'),
          to: time('End of the period; exclusive'),
          note: Type.Optional(Type.String({ examples: ['Request 4711'] })),
          include_content: Type.Boolean({ examples: [false] }),
        },
        { description: 'Present for an evidence pack, which is an archive (`.tar.gz`)' },
      ),
    ),
    verification_summary: Type.Optional(
      object(
        {
          checked: count('Records verified'),
          verified: count('Records that verify'),
          tampered: count('Records whose hash, index columns or stored state disagree with the record'),
          cosign_invalid: count('Records whose cosignature does not verify over the stored hash'),
        },
        { description: 'Present after completion if `verify` was requested' },
      ),
    ),
    error: Type.Optional(
      object(
        {
          type: Type.String({ examples: ['https://hub.example.com/errors/internal'] }),
          title: Type.String({ examples: ['Internal error'] }),
          detail: Type.String({ examples: ['The export had not ended after 24 hours.'] }),
        },
        { description: 'Reason for the failure or early expiry' },
      ),
    ),
  },
  { title: 'Export' },
)

export const CreatedExportSchema = object({
  job_id: JobId,
  status: Type.Literal('queued'),
  estimated_completion_ts: time('First estimate'),
})

export const ExportList = object({ items: Type.Array(ExportSchema), next_cursor: NextCursor })

export const exportLocation = { location: Type.String({ examples: [`/api/v1/hub/exports/${exampleId}`] }) }

// Every invalid address gets the same error text, so the schema checks nothing.
const part = (description: string, example: string) => Type.Optional(Type.String({ description, examples: [example] }))

export const DownloadParams = object({
  job_id: Type.String({ description: 'Id of the export', examples: [exampleId] }),
  file_name: Type.String({ description: 'Id of the file or its manifest', examples: [exampleFile] }),
})

export const DownloadQuery = object({
  tenant: part('Slug of the tenant', 'acme'),
  expires: part('Expiry of the address, in seconds since 1970', '1767312000'),
  signature: part('Over all parts of the address', 'x9bX0uo8QF5RXYQK2w8cB9KY0Jd4H0eCDVzHCk0d8nI'),
})

export const DownloadHeaders = object({
  range: part(
    'One range of bytes (RFC 9110, section 14); a request for several returns the whole file',
    'bytes=0-1023',
  ),
  'if-range': part(
    '`ETag` of the part that you have; the whole file is sent if it differs',
    '"x9bX0uo8QF5RXYQK2w8cB9KY0Jd"',
  ),
})

const content = (description: string) => Type.String({ description, contentMediaType: 'application/octet-stream' })
const headers = {
  ETag: Type.String({ examples: ['"x9bX0uo8QF5RXYQK2w8cB9KY0Jd"'] }),
  'Accept-Ranges': Type.Literal('bytes'),
  'Content-Disposition': Type.String({ examples: [`attachment; filename="${exampleFile}"`] }),
}

export const downloadAnswers = {
  response: { 200: content('The file'), 206: content('The requested part') },
  responseHeaders: {
    200: headers,
    206: { ...headers, 'Content-Range': Type.String({ examples: ['bytes 0-1023/146515'] }) },
  },
} as const
