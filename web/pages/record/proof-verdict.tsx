import { List, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import {
  type BundleResult,
  type JsonObject,
  ProvenanceError,
  parseKeyDocumentAsync,
  verifyProofBundle,
} from '../../../provenance/index.ts'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { Notice } from '../../ui/notice.tsx'
import { formatTime } from '../../ui/time-text.tsx'
import { browserCrypto } from '../../verification/browser-crypto.ts'
import type { Bundle } from './proof-facts.tsx'

interface Verdict {
  result: BundleResult
  at: string
}

/** Verifies the bundle in this browser, and shows the result. */
export function ProofVerdict({ bundle }: { bundle: Bundle }) {
  const query = useQuery({
    queryKey: ['proof-verdict', bundle.provenance_cosign, bundle.checkpoint],
    queryFn: () => verdictOf(bundle),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  return (
    <QueryBoundary query={query} what="verification" skeleton={<SkeletonLines lines={1} height={72} />}>
      {(verdict) => <VerdictNotice {...verdict} />}
    </QueryBoundary>
  )
}

function VerdictNotice({ result: { verified, failures }, at }: Verdict) {
  if (verified) {
    return (
      <Notice kind="good" title="This browser verified the proof">
        {`At ${formatTime(at)}, with the keys of the bundle: compare them with your own copy.`}
      </Notice>
    )
  }
  return (
    <Notice kind="tampered" title="The proof does not verify" urgent>
      <List size="sm">
        {failures.map(({ check, detail }) => (
          <List.Item key={check}>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>{`${check}: ${detail}`}</Text>
          </List.Item>
        ))}
      </List>
    </Notice>
  )
}

async function verdictOf(bundle: Bundle): Promise<Verdict> {
  const crypto = await browserCrypto()
  const json = bundle as unknown as JsonObject
  const keys = await parseKeyDocumentAsync({ keys: json.public_keys! }, crypto.sha256).catch((error: unknown) => {
    if (error instanceof ProvenanceError) return new Map()
    throw error
  })
  return { result: await verifyProofBundle(json, keys, crypto), at: new Date().toISOString() }
}
