// Typed requests on the server.
import { type CancellationToken, CancellationTokenSource, NotificationType } from "vscode-languageclient/node";
import type { Notifications, Requests } from "./protocol";
import type { Server } from "./server";

/** Ask the server; undefined where there is none, or it can't say. The reason is in the output. */
export async function ask<M extends keyof Requests>(
  server: Server,
  method: M,
  params: Requests[M]["params"],
  token: CancellationToken = new CancellationTokenSource().token,
): Promise<Requests[M]["result"] | undefined> {
  const client = server.client;
  if (!client) return undefined;
  try {
    return await client.sendRequest<Requests[M]["result"]>(method, params, token);
  } catch (error) {
    if (!token.isCancellationRequested) server.output.debug(`${method}: ${error}`);
    return undefined;
  }
}

export function notification<M extends keyof Notifications>(method: M) {
  return new NotificationType<Notifications[M]>(method);
}
