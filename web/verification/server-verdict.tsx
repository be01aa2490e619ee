import { Group, Text } from '@mantine/core'
import { IconCheck, IconX } from '@tabler/icons-react'

/** The member `verification` of a response. */
export interface ServerVerdictText {
  verified: boolean
  /** A dishonest Hub may omit them. */
  checks?: Readonly<Record<string, boolean>>
}

const names: Readonly<Record<string, string>> = {
  provenance_hash_matches: 'hash and stored columns',
  provenance_cosign_valid: 'cosignature',
  schema_version_supported: 'form',
  no_active_legal_hold_violation: 'legal holds',
}

/** Shows the Hub's own verdict beside the browser's. */
export function ServerVerdict({ word: { verified, checks } }: { word: ServerVerdictText }) {
  return (
    <Group gap={6} role="group" aria-label="What the Hub says">
      <Text size="sm" fw={600}>
        The Hub says: {verified ? 'verified' : 'not verified'}
      </Text>
      {Object.entries(checks ?? {}).map(([name, passed]) => (
        <Group key={name} gap={2} wrap="nowrap">
          {passed ? <IconCheck size={14} aria-label="passed" /> : <IconX size={14} aria-label="failed" />}
          <Text size="sm" c={passed ? 'dimmed' : undefined} fw={passed ? undefined : 600}>
            {names[name] ?? name.replaceAll('_', ' ')}
          </Text>
        </Group>
      ))}
    </Group>
  )
}
