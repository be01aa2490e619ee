import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { api, hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { formatCount } from '../../ui/formats.ts'
import { TimeText } from '../../ui/time-text.tsx'

/** Shows the key of a tenant in Mode B, which wraps the keys that encrypt its content. */
export function ContentKey({ slug }: { slug: string }) {
  const me = useMe()
  const provision = api.useQuery('get', '/api/v1/hub/provision', {})
  const [asked, setAsked] = useState<'rotate' | 'destroy'>()
  const close = () => setAsked(undefined)
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="key">
      <Stack>
        <Title order={2} id="key">
          Your own key
        </Title>
        <QueryBoundary query={provision} what="key">
          {({ cmek }) =>
            cmek ? (
              <>
                <DescriptionList>
                  <DescriptionItem name="Provider">{cmek.provider}</DescriptionItem>
                  <DescriptionItem name="Key">{cmek.key_ref}</DescriptionItem>
                  <DescriptionItem name="Content key">{cmek.key_id}</DescriptionItem>
                  <DescriptionItem name="Made">
                    <TimeText iso={cmek.created_at} />
                  </DescriptionItem>
                  <DescriptionItem name="Wrapped">
                    <TimeText iso={cmek.wrapped_at} />
                  </DescriptionItem>
                  <DescriptionItem name="Content keys">{formatCount(cmek.content_keys)}</DescriptionItem>
                </DescriptionList>
                <Group>
                  {me.may('rotateContentKey') && (
                    <Button variant="default" onClick={() => setAsked('rotate')}>
                      Rotate
                    </Button>
                  )}
                  {me.may('destroyContentKeys') && (
                    <Button variant="light" color="red" onClick={() => setAsked('destroy')}>
                      Destroy
                    </Button>
                  )}
                </Group>
              </>
            ) : (
              <Text size="sm">
                There is none: it was never given, or its content keys were destroyed. It is given where the Hub is
                provisioned.
              </Text>
            )
          }
        </QueryBoundary>
      </Stack>
      <ConfirmDialog
        opened={asked === 'rotate'}
        onClose={close}
        title="Rotate the content key?"
        confirmLabel="Rotate"
        failed="The content key was not rotated"
        send={() => hub.POST('/api/v1/hub/cmek:rotate', { body: {} })}
        done="A new content key is in use; the former keys were rewrapped."
        refresh={['/api/v1/hub/provision']}
      >
        <Text size="sm">
          New content is encrypted with a new content key, and your key rewraps the former ones. Everything stays
          readable. The provider of your key must be reachable.
        </Text>
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === 'destroy'}
        onClose={close}
        title="Destroy all content of this tenant?"
        confirmLabel="Destroy for good"
        danger
        reason={{ label: 'Reason', maxLength: 500, required: true }}
        typeToConfirm={slug}
        failed="Nothing was destroyed"
        send={(reason) => hub.POST('/api/v1/hub/cmek:destroy', { body: { confirm: slug, reason } })}
        done="The content keys are destroyed."
        refresh="everything"
      >
        <Stack gap="xs">
          <Text size="sm" fw={600}>
            This cannot be taken back, by you, by the operator or by anybody.
          </Text>
          <Text size="sm">
            The content keys are destroyed within 5 seconds in every process, and with them the content of every record.
            Hashes, seals and the log stay and verify. Connectors and directories need their secrets again. It is
            refused while a legal hold or a minimum retention stands.
          </Text>
        </Stack>
      </ConfirmDialog>
    </Paper>
  )
}
