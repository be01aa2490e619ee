import { api, hub } from '../../api/api-client.ts'
import { patchBody } from '../../api/patch-body.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { useMutationForm } from '../../components/use-mutation-form.ts'
import { AlertRulesField } from '../webhooks/alert-rules-field.tsx'
import { bodyOf, newRule, valuesOf, type Webhook, webhookSchema } from '../webhooks/webhook-form.ts'

interface RulesFormProps {
  webhookId: string
  /** Whether the form begins with a further rule. */
  isNew: boolean
  onClose(): void
}

/** Edits the alert rules of an endpoint, and nothing else of it. */
export function RulesForm({ webhookId, isNew, onClose }: RulesFormProps) {
  const webhook = api.useQuery('get', '/api/v1/webhooks/{webhook_id}', { params: { path: { webhook_id: webhookId } } })
  return (
    <QueryBoundary query={webhook} what="alert rules">
      {(loaded) => <LoadedForm key={webhookId} webhook={loaded} isNew={isNew} onClose={onClose} />}
    </QueryBoundary>
  )
}

function LoadedForm({ webhook, isNew, onClose }: { webhook: Webhook } & Pick<RulesFormProps, 'isNew' | 'onClose'>) {
  const stored = valuesOf(webhook)
  const form = useMutationForm({
    initialValues: { ...stored, alerts: isNew ? [...stored.alerts, newRule()] : stored.alerts },
    schema: webhookSchema,
    send: (values) =>
      hub.PATCH('/api/v1/webhooks/{webhook_id}', {
        params: { path: { webhook_id: webhook.webhook_id } },
        body: patchBody(bodyOf(values), bodyOf(stored)),
      }),
    done: 'The alert rules were saved.',
    refresh: ['/api/v1/webhooks'],
    onDone: onClose,
  })
  return (
    <MutationForm form={form} submit="Save rules" failed="The alert rules were not saved" onCancel={onClose}>
      <AlertRulesField form={form} />
    </MutationForm>
  )
}
