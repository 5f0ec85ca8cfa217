// Typed requests on the server.
import { type CancellationToken, CancellationTokenSource, NotificationType } from "vscode-languageclient/node";
import type { Notifications, Requests } from "./protocol";
import type { Server } from "./server";
import { tell } from "./tell";
import { why } from "./why";

/** Ask the server; undefined where there is none, or it can't say. The reason is in the output. */
export async function ask<M extends keyof Requests>(
  server: Server,
  method: M,
  params: Requests[M]["params"],
  token: CancellationToken = new CancellationTokenSource().token,
): Promise<Requests[M]["result"] | undefined> {
  try {
    return await server.client?.sendRequest<Requests[M]["result"]>(method, params, token);
  } catch (error) {
    if (!token.isCancellationRequested) server.output.debug(`${method}: ${error}`);
    return undefined;
  }
}

/** Ask the server for what the user wants; undefined where there is no answer, and then they were told why. */
export async function demand<M extends keyof Requests>(
  server: Server,
  method: M,
  params: Requests[M]["params"],
): Promise<Requests[M]["result"] | undefined> {
  let failed: unknown;
  try {
    const result = await server.client?.sendRequest<Requests[M]["result"]>(method, params);
    if (result) return result;
  } catch (error) {
    server.output.debug(`${method}: ${error}`);
    failed = error;
  }
  tell(why(server.life, failed));
  return undefined;
}

export function notification<M extends keyof Notifications>(method: M) {
  return new NotificationType<Notifications[M]>(method);
}
