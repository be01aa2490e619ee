import { Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { ProvenanceError, parseCheckpoint } from '../../../provenance/index.ts'
import type { ApiResponse } from '../../api/api-client.ts'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { formatCount } from '../../ui/formats.ts'
import { QrCode } from '../../ui/qr-code.tsx'
import { TimeText } from '../../ui/time-text.tsx'

export type Bundle = ApiResponse<'getProofBundle'>

/** Shows the record's own members, its hash and its cosignature. */
export function RecordFacts({ bundle: { record, provenance_hash, provenance_cosign } }: { bundle: Bundle }) {
  const text = (name: string) => (typeof record[name] === 'string' ? record[name] : undefined)
  const createdAt = text('created_at')
  return (
    <Section title="Record">
      <DescriptionList>
        <DescriptionItem name="Record id">{mono(text('record_id'))}</DescriptionItem>
        <DescriptionItem name="Type">{text('record_type')}</DescriptionItem>
        <DescriptionItem name="Tenant">{text('tenant_id')}</DescriptionItem>
        <DescriptionItem name="Created">{createdAt && <TimeText iso={createdAt} />}</DescriptionItem>
        <DescriptionItem name="Created by">{mono(text('created_by'))}</DescriptionItem>
        <DescriptionItem name="Hash">{mono(provenance_hash)}</DescriptionItem>
        <DescriptionItem name="Cosignature">{mono(provenance_cosign)}</DescriptionItem>
      </DescriptionList>
    </Section>
  )
}

/** Shows the seal of the record, and the position of the seal in the log. */
export function LogFacts({ bundle: { seal, inclusion_proof, public_keys } }: { bundle: Bundle }) {
  const { log_index, tree_size, leaf_hash, path } = inclusion_proof
  return (
    <Section title="Position in the log">
      <DescriptionList>
        <DescriptionItem name="Seal">{mono(seal.seal_id)}</DescriptionItem>
        <DescriptionItem name="Record of seal">
          {`${formatCount(seal.leaf_index + 1)} of ${formatCount(seal.leaf_count)}`}
        </DescriptionItem>
        <DescriptionItem name="Log entry">{`${log_index} of a log of ${tree_size} entries`}</DescriptionItem>
        <DescriptionItem name="Entry hash">{mono(leaf_hash)}</DescriptionItem>
        <DescriptionItem name="Inclusion path">
          {path.length === 0 ? 'None: the log has one entry.' : `${path.length} hashes, in the proof bundle`}
        </DescriptionItem>
        <DescriptionItem name="Public keys">
          <Stack gap={2}>
            {public_keys.map((key) => (
              <span key={key.key_id}>{mono(key.vkey)}</span>
            ))}
          </Stack>
        </DescriptionItem>
      </DescriptionList>
    </Section>
  )
}

/** Shows the checkpoint as text and as a QR code. */
export function CheckpointFacts({ bundle: { checkpoint } }: { bundle: Bundle }) {
  const state = stateIn(checkpoint)
  return (
    <Section title="Checkpoint">
      <Group align="flex-start" gap="lg" wrap="wrap" className="unbroken">
        <QrCode value={checkpoint} label="QR code of the checkpoint" size="13rem" />
        <Stack gap="xs" flex="1 1 16rem" miw={0}>
          <DescriptionList>
            <DescriptionItem name="Log">{state?.logName}</DescriptionItem>
            <DescriptionItem name="Entries">{state && String(state.treeSize)}</DescriptionItem>
            <DescriptionItem name="Signed">{state?.signedAt && <TimeText iso={state.signedAt} />}</DescriptionItem>
          </DescriptionList>
          <pre className="proof-text">{checkpoint}</pre>
          <Text size="xs" c="dimmed">
            The QR code has this text, byte for byte. Every later checkpoint of the log must continue it.
          </Text>
        </Stack>
      </Group>
    </Section>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = `proof-${title.toLowerCase().replaceAll(' ', '-')}`
  return (
    <Stack gap="xs" component="section" aria-labelledby={id}>
      <Title order={2} size="h4" id={id}>
        {title}
      </Title>
      {children}
    </Stack>
  )
}

function mono(value: string | undefined): ReactNode {
  return value && <span style={{ fontFamily: 'var(--mantine-font-family-monospace)' }}>{value}</span>
}

function stateIn(note: string): { logName: string; treeSize: number; signedAt: string | undefined } | undefined {
  try {
    const { logName, treeSize, timeMicros } = parseCheckpoint(note)
    return {
      logName,
      treeSize,
      signedAt: timeMicros === undefined ? undefined : new Date(timeMicros / 1000).toISOString(),
    }
  } catch (error) {
    // The verdict states the problem.
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}
