//! The OpenAPI document, made of the list of endpoints. It describes and never
//! decides: what an endpoint does stands in its handler.

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use faultboard_app::endpoints::{ENDPOINTS, Endpoint, Needs};
use faultboard_domain::Actor;
use serde_json::{Map, Value, json};

use super::api;
use super::fault::Fault;
use super::state::Site;

/// The route.
pub(super) fn routes() -> Router<Site> {
    Router::new().route("/api/v1/openapi.json", get(document))
}

async fn document(State(site): State<Site>) -> Result<Response, Fault> {
    // It is equal for everybody, whoever asks.
    api::json(&Actor::Anonymous, &describe(&site.base_url))
}

fn describe(base_url: &str) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for e in ENDPOINTS {
        let path = paths.entry(e.path).or_insert_with(|| json!({}));
        path[e.method.to_lowercase()] = operation(e);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Faultboard",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Boards, cases, submissions and attempts of a benchmark in which agents debug distributed systems. Lists are paged by key; errors are problem documents.",
        },
        "servers": [{ "url": base_url }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Problem": {
                "type": "object",
                "properties": {
                    "type": { "type": "string" },
                    "title": { "type": "string" },
                    "status": { "type": "integer" },
                    "detail": { "type": "string" },
                    "instance": { "type": "string" },
                },
            } },
        },
    })
}

fn operation(e: &Endpoint) -> Value {
    let named = e
        .path
        .split('{')
        .skip(1)
        .filter_map(|p| p.split('}').next());
    let mut parameters: Vec<Value> = named
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    parameters.extend(e.query.iter().map(|(name, what)| {
        json!({ "name": name, "in": "query", "description": what, "schema": { "type": "string" } })
    }));
    let problem = json!({
        "description": "What happened, why, and what to do.",
        "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
    });
    let mut made = json!({
        "operationId": format!("{}{}", e.method.to_lowercase(), e.path.replace(['/', '{', '}', '.'], "_")),
        "summary": e.about,
        "parameters": parameters,
        "responses": {
            "200": { "description": "The answer.", "content": { "application/json": { "schema": {} } } },
            "default": problem,
        },
    });
    if !e.body.is_empty() {
        let properties: Map<String, Value> = e
            .body
            .iter()
            .map(|(name, _)| {
                let kind = if *name == "fresh" {
                    "boolean"
                } else {
                    "string"
                };
                ((*name).to_owned(), json!({ "type": kind }))
            })
            .collect();
        let required: Vec<&str> = e.body.iter().filter(|b| b.1).map(|b| b.0).collect();
        made["requestBody"] = json!({ "required": true, "content": { "application/json": { "schema": {
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        } } } });
    }
    made["security"] = match e.needs {
        Needs::Nothing => json!([{}, { "token": [] }]),
        _ => json!([{ "token": [] }]),
    };
    made
}
