import { Anchor, Button, Code, List, Paper, Stack, Text, Title } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { apiBaseUrl } from '../../api/api-base-url.ts'
import type { ApiResponse } from '../../api/api-client.ts'
import { saveFile } from '../../ui/save-file.ts'

/** Explains how to check the log without this browser and this page. */
export function OfflineAudit({ checkpoint }: { checkpoint: ApiResponse<'getLogCheckpoint'> | undefined }) {
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="log-audit">
      <Title order={2} size="h3" mb="sm" id="log-audit">
        Check it without this page
      </Title>
      <Stack gap="sm">
        <Text size="sm">
          Save a checkpoint now and then, where nobody of the Hub can write: with it you notice later when history was
          rewritten or rolled back, regardless of who did it.
        </Text>
        {checkpoint && (
          <Button
            variant="default"
            w="fit-content"
            leftSection={<IconDownload size={16} />}
            onClick={() =>
              saveFile(
                `checkpoint-${checkpoint.tree_size}.json`,
                new Blob([`${JSON.stringify(checkpoint)}\n`], { type: 'application/json' }),
              )
            }
          >
            Save checkpoint
          </Button>
        )}
        <List size="sm" spacing={6}>
          <List.Item>
            On the machine of the Hub, somebody with access to its database runs{' '}
            <Code>npm run hub -- log audit --against checkpoint.json</Code>, which computes the log again from the
            records up.
          </List.Item>
          <List.Item>
            Anywhere, without the Hub: <Code>npm run hub -- verify FILE --keys keys.json</Code> checks an export or a
            certificate. The keys are at{' '}
            <Anchor
              href={`${apiBaseUrl}/.well-known/provenance-keys.json`}
              size="sm"
              underline="always"
              target="_blank"
              rel="noreferrer"
            >
              /.well-known/provenance-keys.json
            </Anchor>
            .
          </List.Item>
          <List.Item>
            <Anchor
              href={`${apiBaseUrl}/docs/verification`}
              size="sm"
              underline="always"
              target="_blank"
              rel="noreferrer"
            >
              Verify without the Hub
            </Anchor>{' '}
            explains what each of them proves, and what not.
          </List.Item>
        </List>
      </Stack>
    </Paper>
  )
}
