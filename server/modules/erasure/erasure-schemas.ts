import { Type } from 'typebox'
import { recordTypes } from '../../../contract/literals.ts'
import { object } from '../../../contract/object-schema.ts'
import { RecordSchema, uuid } from '../../records/record-schemas.ts'

const exampleHash = 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg='
const exampleLog = 'orghub/log/4k2WcXbFd0aVtnYzS1mQ7e'

const hash = (description: string) => Type.String({ description, examples: [exampleHash] })
const path = (description: string) => Type.Array(hash('A hash in base64'), { description })
const time = (description: string, example: string) =>
  Type.String({ format: 'date-time', description, examples: [example] })

export const DeletionCertificateSchema = object(
  {
    record_id: uuid('Id of the record that was erased'),
    record_type: Type.Enum([...recordTypes]),
    tenant_id: Type.String({ examples: ['acme'] }),
    seal_id: uuid('The seal of the record'),
    leaf_index: Type.Integer({ description: 'Position in the seal', examples: [0] }),
    leaf_hash: hash('Remaining part of the record: a salted hash of its hash, in base64'),
    leaf_path: path('From the leaf to the root of the seal'),
    seal_note: Type.String({
      description: 'The signed note of the seal',
      examples: [`orghub/seal/v1\nlog ${exampleLog}\n…`],
    }),
    log_index: Type.Integer({ description: 'Position of the seal in the log', examples: [1041] }),
    tree_size: Type.Integer({ description: 'Size of the log', examples: [20852] }),
    inclusion_path: path('From the seal to the root of the log'),
    checkpoint: Type.String({
      description: 'The signed state of the log (C2SP tlog-checkpoint)',
      examples: [`${exampleLog}\n20852\n…`],
    }),
    purged_at: time('When it was purged', '2026-03-14T09:26:53.589793Z'),
    purged_by: Type.String({
      description: 'Subject of the token, or `service:retention`',
      examples: ['usr_4k2WcXbFd0a'],
    }),
    purge_reason: Type.String({ examples: ['Erasure request 17'] }),
    erased_at: time('When it was erased', '2026-04-13T09:37:00.112233Z'),
    events: object(
      {
        purged: Type.Optional(RecordSchema),
        erased: RecordSchema,
      },
      {
        description:
          'The governance events of the purge and of the erasure. The purge event is absent if a restored backup ' +
          'lacked it, and for callers without `hub:read`, `governance:read` and `hub:purge`; the erasure event ' +
          'names it in `details.purge_event`',
      },
    ),
  },
  { title: 'DeletionCertificate', description: 'Verifies offline with the keys of the log: hub verify FILE' },
)
