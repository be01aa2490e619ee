import { type Static, Type } from 'typebox'
import { pageSizeDefault, pageSizeMax } from '../../../contract/limits.ts'
import { patterns } from '../../../contract/literals.ts'
import { object } from '../../../contract/object-schema.ts'
import { ProvenanceCosign, ProvenanceHash } from '../../../contract/response-schemas.ts'

const exampleId = '019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'
const exampleHash = 'w2jD3Bo0Wq6mYd1M0nZ0fQ5xk8Jm3bV1s9yB2g6d3vA='
const exampleLog = 'orghub/log/4k2WcXbFd0aVtnYzS1mQ7e'

const uuid = (description: string) => Type.String({ pattern: patterns.uuid, description, examples: [exampleId] })
const hash = (description: string) => Type.String({ description, examples: [exampleHash] })
const count = (description: string, examples: number[], minimum = 0) =>
  Type.Integer({ minimum, maximum: Number.MAX_SAFE_INTEGER, description, examples })

const checkpoint = Type.String({
  description: 'The signed note (C2SP tlog-checkpoint); the keys are at /.well-known/provenance-keys.json',
  examples: [`${exampleLog}\n4711\n${exampleHash}\ntime 1773480413589793\n\n— ${exampleLog} zYi7Qa…\n`],
})
const treeSize = count('Leaves of the log', [4711])
const path = (description: string) => Type.Array(hash('32 bytes in base64'), { description, examples: [[exampleHash]] })

export const CheckpointSchema = object(
  {
    checkpoint,
    log_name: Type.String({ description: 'Opaque name of the log, also the name of its keys', examples: [exampleLog] }),
    tree_size: treeSize,
    root_hash: hash('Root of the tree, in base64'),
    signed_at: Type.String({ format: 'date-time', examples: ['2026-03-14T09:26:53.589793Z'] }),
  },
  { title: 'Checkpoint' },
)

export const ConsistencyQuery = object({
  from: count('Leaves of the earlier state', [1], 1),
  to: Type.Optional(count('Leaves of the later state; default is the newest', [4711])),
})

export const ConsistencySchema = object(
  {
    from: count('Leaves of the earlier state', [1], 1),
    to: treeSize,
    from_root: hash('Root of the earlier state, in base64'),
    to_root: hash('Root of the later state, in base64'),
    path: path('The consistency proof of RFC 6962, section 2.1.2; empty where `from` is `to`'),
  },
  { title: 'Consistency proof' },
)

export const ProofParams = object({ record_id: uuid('Id of the record') })

export const ProofSchema = object(
  {
    record_id: uuid('Id of the record'),
    provenance_hash: ProvenanceHash,
    provenance_cosign: ProvenanceCosign,
    seal_id: uuid('The seal of the record'),
    seal_note: Type.Optional(
      Type.String({
        description:
          'The signed note of the seal, as derived from record and cosignature. Absent if the stored seal is damaged',
        examples: [
          `orghub/seal/v1\nlog ${exampleLog}\nseal ${exampleId}\ntime 1773480413589793\nleaves 1\nroot …\n\n— …\n`,
        ],
      }),
    ),
    log_index: count('Index of the seal in the log', [17]),
    tree_size: treeSize,
    leaf_hash: hash('Leaf of the seal in the log: SHA-256(0x00 ‖ seal_note), in base64'),
    inclusion_path: path('The inclusion proof of RFC 6962, section 2.1.1, from the leaf to the root'),
    checkpoint,
  },
  { title: 'Inclusion proof' },
)

const exampleKeyId = '5b0e1f3c9a7d4826b1c0de93f7a25c48'

export const ProofBundleQuery = object({
  consistency_from: Type.Optional(
    count('Leaves of a checkpoint that you kept; the bundle then proves that the log continues it', [4700], 1),
  ),
})

export const ProofBundleSchema = object(
  {
    bundle_version: Type.Literal(1, { description: 'Version of this format' }),
    record: Type.Object(
      { record_id: uuid('UUIDv7'), is_purged: Type.Boolean({ examples: [false] }) },
      { additionalProperties: true, description: 'The record as `getRecord` returns it' },
    ),
    provenance_hash: ProvenanceHash,
    provenance_cosign: ProvenanceCosign,
    seal: object(
      {
        seal_id: uuid('The seal of the record'),
        leaf_index: count('Position of the record in its seal', [0]),
        leaf_count: Type.Optional(count('Number of records in the seal; absent if the stored seal is damaged', [1], 1)),
        note: Type.Optional(
          Type.String({
            description: 'The signed note of the seal. Absent if the stored seal is damaged: the bundle then fails',
            examples: [`orghub/seal/v1\nlog ${exampleLog}\nseal ${exampleId}\n…`],
          }),
        ),
      },
      { description: 'The signature over the record and those that were committed with it' },
    ),
    inclusion_proof: object(
      {
        log_index: count('Index of the seal in the log', [17]),
        tree_size: treeSize,
        leaf_hash: hash('Leaf of the seal in the log: SHA-256(0x00 ‖ seal.note), in base64'),
        path: path('The inclusion proof of RFC 6962, section 2.1.1, from the leaf to the root of the checkpoint'),
      },
      { description: 'Proves that the seal is in the log of the checkpoint' },
    ),
    checkpoint,
    consistency_from: Type.Optional(
      object(
        {
          tree_size: count('Leaves of the earlier state', [4700], 1),
          root_hash: hash('Root of the earlier state, in base64; compare it with your checkpoint'),
          path: path('The consistency proof of RFC 6962, section 2.1.2, to the checkpoint; empty for the same state'),
        },
        { description: 'An earlier state of the log that the checkpoint continues. Present if it was requested' },
      ),
    ),
    public_keys: Type.Array(
      object({
        key_id: Type.String({ description: '32 hexadecimal digits', examples: [exampleKeyId] }),
        name: Type.String({ description: 'Opaque name of the log', examples: [exampleLog] }),
        algorithm: Type.Literal('Ed25519'),
        public_key: Type.String({ description: '32 bytes in base64', examples: [exampleHash] }),
        vkey: Type.String({ description: 'C2SP verifier key', examples: [`${exampleLog}+5b0e1f3c+AQ…`] }),
        created_at: Type.String({ format: 'date-time', examples: ['2026-03-14T09:26:53.589793Z'] }),
        retired_at: Type.Optional(Type.String({ format: 'date-time', examples: ['2026-06-14T09:26:53.589793Z'] })),
        succession: Type.Optional(
          Type.String({ description: 'Note by which the previous key introduces this one', examples: ['…'] }),
        ),
      }),
      { description: 'All keys of the log, as in `/.well-known/provenance-keys.json`' },
    ),
    how_to_verify: Type.String({
      description: 'Instructions for people; they prove nothing',
      examples: ['hub verify FILE --keys provenance-keys.json'],
    }),
  },
  { title: 'Proof bundle' },
)

export const EntriesQuery = object({
  after: Type.Optional(
    Type.Union(
      [
        count('`last_position` of a response, or `position` of an item; 0 is the beginning', [1152]),
        Type.String({
          description: '`record_id` of a record in the log, `next_cursor` of a response, or empty for the beginning',
          examples: [exampleId],
        }),
      ],
      { description: 'Start after this position; default is the beginning. Ignored with `cursor`', examples: [0] },
    ),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: pageSizeMax,
      default: pageSizeDefault,
      description: 'Maximum number of items. A page may end early; `next_cursor` continues it',
    }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, description: '`next_cursor` of the previous page; takes precedence over `after`' }),
  ),
})

export type EntriesQuery = Static<typeof EntriesQuery>

const EntrySchema = object({
  position: count('Position in the feed, for `after`; increases with gaps', [1089]),
  log_index: count('Index of the seal in the log', [17]),
  leaf_index: count('Position of the record in its seal', [0]),
  seal_id: uuid('The seal of the record'),
  record_id: uuid('Id of the record'),
  record: Type.Optional(
    Type.Object(
      { record_id: uuid('UUIDv7'), is_purged: Type.Boolean({ examples: [false] }) },
      { additionalProperties: true, description: 'The record as `getRecord` returns it; absent once it is erased' },
    ),
  ),
  erased: Type.Optional(Type.Literal(true, { description: 'The record was erased; only its position remains' })),
})

export const EntriesPage = object({
  items: Type.Array(EntrySchema),
  next_cursor: Type.Union([Type.String(), Type.Null()], {
    description: 'For `cursor` of the next page; null if there are no more items now',
    examples: [null],
  }),
  last_position: count('Last position that this page covers: `after` of the next call', [1152]),
})
