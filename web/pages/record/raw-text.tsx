import { Button, Code, Group, Stack, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { apiBaseUrl } from '../../api/api-base-url.ts'
import { useMe } from '../../api/me.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { canonicalText } from '../../verification/record-steps.ts'
import { ContentValue } from './content-value.tsx'
import type { ReadRecord } from './use-record.ts'

/** Shows the sealed text, byte for byte, and how to read the record without this page. */
export function RawText({ read: { record, json, etag } }: { read: ReadRecord }) {
  const { tenant } = useMe()
  const text = canonicalText(json)
  const address = `${apiBaseUrl}/api/v1/hub/records/${record.record_id}`
  const command = `curl -H "Authorization: Bearer $TOKEN" -H "X-Service-Tenant: ${tenant}" ${address}`
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        RFC 8785: the record without what is not sealed. Its SHA-256, behind the words orghub/record/v1 and a zero byte,
        is the hash.
      </Text>
      {text === undefined ? (
        <Code block>This record has no canonical text.</Code>
      ) : (
        <>
          <ContentValue value={text} label="Canonical text" />
          <Group gap="xs">
            <CopyText value={text} label="Copy canonical text" shown={`${text.length.toLocaleString()} characters`} />
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconDownload size={14} aria-hidden />}
              onClick={() => saveFile(`${record.record_id}.json`, new Blob([text], { type: 'application/json' }))}
            >
              Download
            </Button>
          </Group>
        </>
      )}
      <Labelled label="Hash">
        <CopyText value={record.provenance_hash} label="Copy hash" />
      </Labelled>
      <Labelled label="Cosignature">
        <CopyText value={record.provenance_cosign} label="Copy cosignature" />
      </Labelled>
      {etag && (
        <Labelled label="ETag, for If-Match">
          <CopyText value={etag} label="Copy ETag" />
        </Labelled>
      )}
      <Labelled label="Fetch it, with a token in TOKEN">
        <CopyText value={command} label="Copy command" />
      </Labelled>
    </Stack>
  )
}

function Labelled({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      {children}
    </div>
  )
}
